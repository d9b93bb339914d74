// Second pass of an iteration, and the product that D is.

#ifdef SPLIT

// The difference of the two halves of solved (2 rank, n) at a piece's steps and at the step after it (edge), in the
// order in which D's product takes it: both parts of rows c and c + 4 of every 8.
__device__ __forceinline__ void load_difference(const float* __restrict__ solved, float4* difference, float2* edge,
                                                int n_blocks, int rank, int n) {
    const int start = blockIdx.x * LENGTH;
    const auto at = [&](int row, int t) {
        const float* place = solved + (size_t)min(row, rank - 1) * n + min(t, n - 1);
        const float difference = place[0] - place[(size_t)rank * n];
        return row < rank && t < n ? difference : 0;
    };
#pragma unroll 4
    for (int place = threadIdx.x; place < 128 * n_blocks; place += THREADS) {
        const int lane = place & 31, row = 8 * (place >> 7) + (lane & 3);
        const int t = start + 8 * (place >> 5 & 3) + (lane >> 2);
        difference[place] = split(at(row, t), at(row + 4, t));
    }
    for (int place = threadIdx.x; place < 4 * n_blocks; place += THREADS) {
        const int row = 8 * (place >> 2) + (place & 3), t = start + LENGTH;
        edge[place] = make_float2(at(row, t), at(row + 4, t));
    }
}

// Sum four numbers over four neighbouring lanes each: the first lane gets the sum of the first, and so on.
__device__ __forceinline__ float own_sum(const float (&x)[4]) {
    const int lane = threadIdx.x & 31;
    const bool upper = lane & 2, odd = lane & 1;
    const float first = (upper ? x[2] : x[0]) + __shfl_xor_sync(ALL, upper ? x[0] : x[2], 2);
    const float second = (upper ? x[3] : x[1]) + __shfl_xor_sync(ALL, upper ? x[1] : x[3], 2);
    return (odd ? second : first) + __shfl_xor_sync(ALL, odd ? first : second, 1);
}

// Write D (32, LENGTH) of 32 atoms to shared memory; returns the entry of the lane's atom at the step after the piece.
__device__ __forceinline__ float expand_tile(const float4* Q, const float4* difference, const float2* edge, float* D,
                                             int n_blocks) {
    const int lane = threadIdx.x & 31, g = lane >> 2, c = lane & 3;
    float sum[2][4][4] = {}, beyond[4] = {};
#pragma unroll 2
    for (int block = 0; block < n_blocks; ++block, difference += 128, edge += 4, Q += 64) {
        const float4 d[4] = {difference[lane], difference[32 + lane], difference[64 + lane], difference[96 + lane]};
        const float2 e = edge[c];
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const float4 a = Q[32 * half + lane];
            multiply_split(a, d, sum[half]);
            beyond[2 * half] += a.x * e.x + a.z * e.y;
            beyond[2 * half + 1] += a.y * e.x + a.w * e.y;
        }
    }
#pragma unroll
    for (int part = 0; part < 16; ++part) {
        const int j = part >> 3, k = part >> 1 & 3, half = part & 1;
        float* place = D + (4 * g + 2 * j + half) * UPDATE_STRIDE + 8 * k + 2 * c;
        *(float2*)place = make_float2(sum[j][k][2 * half], sum[j][k][2 * half + 1]);
    }
    return own_sum(beyond);
}

// What the forward recursion and the update need at step t: a factor of U, `substitute`, and factors of U and SR.
template <bool MEASURE, bool GENERAL>
__device__ __forceinline__ float4 update_entry(const float* __restrict__ share, const float* __restrict__ substitute,
                                               float alpha, int t, int n) {
    if (t >= n) return make_float4(0, 0, 0, 0);
    // the last step of a recording has no successor: U stays zero there
    const float kept = t + 1 < n && substitute[t + 1] != 0 ? 1 : 0, q = share[t];
    const float factor = MEASURE || GENERAL ? q : kept * (1 - alpha + alpha * q);
    return make_float4(factor, substitute[t], kept * (1 - alpha), kept * alpha);
}

// One entry of U += alpha (SR - J).
template <bool MEASURE, bool GENERAL>
__device__ __forceinline__ float move_jump(float u, float step, float4 e, float t2, float alpha, float (&r)[8]) {
    if (MEASURE) return e.w == 0 ? 0 : move_u<true>(u, step, e.x, t2, alpha, r);
    return GENERAL ? e.z * u + e.w * (step + clip(e.x * u, t2)) : e.x * u + e.w * step;
}

// Second pass: what `update` in iteration.cu does, with D from the product of `solved` and Q.
template <bool MEASURE, bool GENERAL>
__device__ __forceinline__ void update_tiles(
    float* __restrict__ V, float* __restrict__ U, const float4* __restrict__ Q, const float* __restrict__ solved,
    const float* __restrict__ share, const float* __restrict__ backward, const float* __restrict__ eliminate,
    const float* __restrict__ substitute, const float* __restrict__ head, const float* __restrict__ tail,
    const float* __restrict__ behind, float* __restrict__ partial, float* __restrict__ residuals, int n, int m,
    int rank, int per_block, float r1, float r2, float t1, float t2, float alpha, int fixed) {
    __shared__ float4 back[LENGTH], forth[LENGTH];
    __shared__ __align__(16) float tiles[WARPS][32 * UPDATE_STRIDE];
    __shared__ float ends[WARPS][3][32];
    extern __shared__ float4 shared[];
    const int n_blocks = (rank + 15) / 16 * 2, Q_size = 64 * n_blocks;
    float4* difference = shared + WARPS * (Q_size + 2 * LENGTH * 8);
    float2* edge = (float2*)(difference + 128 * n_blocks);
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, piece = blockIdx.x, start = piece * LENGTH;
    const int count = min(LENGTH, n - start), end = min((int)(blockIdx.y + 1) * per_block, m / 32);
    const bool last = piece == gridDim.x - 1;
    float r[8] = {0, 0, 0, 0, 0, 0, 0, 0}, norm = 0, *D = tiles[warp];
    float4* my_Q = shared + warp * Q_size;
    float *stage = (float*)(shared + WARPS * Q_size) + warp * 2 * LENGTH * 32, (*end_of)[32] = ends[warp];
    const unsigned pitch = 4 * m;
    int tile = blockIdx.y * per_block + warp;
    V += (size_t)start * m + 32 * tile;
    U += (size_t)start * m + 32 * tile;
    Q += (size_t)tile * Q_size;
    const auto begin_state = [&](int skipped) {  // of the tile `skipped` tiles ahead
        const size_t place = (size_t)piece * m + 32 * (tile + skipped) + lane;
        begin_piece(V + 32 * skipped, stage, pitch);
        begin_piece(U + 32 * skipped, stage + LENGTH * 32, pitch);
        if (!last) begin_copy<4>(head + place + m, end_of[0] + lane);
        if (piece > 0) begin_copy<4>(tail + place - m, end_of[1] + lane);
        if (piece > 0) begin_copy<4>(behind + place - m, end_of[2] + lane);
    };
    if (tile < end) {
        begin_tile(Q, my_Q, Q_size);
        begin_state(0);
    }
    end_group();
    if (threadIdx.x < LENGTH) {
        const int t = start + threadIdx.x;
        const bool exists = t < n;
        back[threadIdx.x] = make_float4(share_of_u<GENERAL>(exists ? share[t] : 0, r2), exists ? backward[t] : 0,
                                        exists ? eliminate[t] : 0, 0);
        forth[threadIdx.x] = update_entry<MEASURE, GENERAL>(share, substitute, alpha, t, n);
    }
    const float in_beyond = last ? 0 : substitute[start + LENGTH];
    load_difference(solved, difference, edge, n_blocks, rank, n);
    __syncthreads();
    for (; tile < end; tile += WARPS, V += 32 * WARPS, U += 32 * WARPS) {
        const int i = 32 * tile + lane;
        const bool more = tile + WARPS < end;  // then the next atoms are fetched as soon as there is room
        finish_copies<0>();
        const float d_beyond = expand_tile(my_Q, difference, edge, D, n_blocks);
        float v[LENGTH], u[LENGTH];
#pragma unroll
        for (int j = 0; j < LENGTH; ++j) {
            v[j] = stage[32 * j + lane];
            u[j] = stage[LENGTH * 32 + 32 * j + lane];
        }
        const float y_beyond = last ? 0 : end_of[0][lane], entry = piece > 0 ? end_of[1][lane] : 0;
        const float first_before = piece > 0 ? end_of[2][lane] : 0;
        __syncwarp();
        Q += WARPS * Q_size;
        if (more) {
            begin_tile(Q, my_Q, Q_size);
            begin_state(WARPS);
        }
        end_group();
        float y[LENGTH], carried = y_beyond;
        float4 e = back[LENGTH - 1];
        float after = reflected<GENERAL>(u[LENGTH - 1], e.x, r2, t2);
#pragma unroll
        for (int j = LENGTH - 1; j >= 0; --j) {
            const int p = j > 0 ? j - 1 : 0;
            const float4 e_before = back[p];
            const float before = j > 0 ? reflected<GENERAL>(u[p], e_before.x, r2, t2) : first_before;
            const float a = multiplier_of_v(v[j], t1, GENERAL && fixed && start + j == i);
            const float f = fmaf(r1, fmaf(-2, a, v[j]), before - after);
            y[j] = carried = f * e.y + e.z * carried;
            after = before;
            e = e_before;
        }
        float x = entry, smooth = 0, square[4];
        float4 *mine = (float4*)(D + lane * UPDATE_STRIDE), d = {};
        e = forth[0];
#pragma unroll
        for (int j = 0; j <= LENGTH; ++j) {
            const float previous = smooth;
            const float4 own = e;  // of the step before
            if (j < LENGTH) {
                const int k = j < LENGTH ? j : 0;
                e = forth[k];
                if (j % 4 == 0) d = mine[k / 4];
                x = y[k] + e.y * x;
                smooth = x + (j % 4 == 0 ? d.x : j % 4 == 1 ? d.y : j % 4 == 2 ? d.z : d.w);
                float* at = step_of(V + lane, k, pitch);
                __stcs(at, move_v<MEASURE>(v[k], smooth, t1, alpha, GENERAL && fixed && start + j == i, r));
            } else {
                smooth = y_beyond + in_beyond * x + d_beyond;
            }
            if (j == 0) continue;
            const int p = j - 1;
            float* at = step_of(U + lane, p, pitch);
            const float moved = move_jump<MEASURE, GENERAL>(u[p], smooth - previous, own, t2, alpha, r);
            __stcs(at, moved);
            square[p % 4] = moved * moved;
            if (p % 4 == 3) mine[p / 4] = make_float4(square[0], square[1], square[2], square[3]);
        }
        __syncwarp();
#pragma unroll 8
        for (int atom = 0; atom < 32; ++atom) norm += D[atom * UPDATE_STRIDE + lane];
        __syncwarp();
    }
    __syncthreads();
    tiles[0][warp * 32 + lane] = norm;
    __syncthreads();
    if (warp == 0 && lane < count) {
        float total = 0;
        for (int w = 0; w < WARPS; ++w) total += tiles[0][w * 32 + lane];
        partial[(size_t)blockIdx.y * n + start + lane] = total;
    }
    if (MEASURE) write_block_sums<8>(r, residuals);
}

#define UPDATE_TILES(NAME, MEASURE, GENERAL)                                                                          \
    extern "C" __global__ void __launch_bounds__(THREADS, 2)                                                       \
    NAME(float* V, float* U, const float4* Q, const float* solved, const float* share, const float* backward,          \
         const float* eliminate, const float* substitute, const float* head, const float* tail, const float* behind,  \
         float* partial, float* residuals, int n, int m, int rank, int per_block, float r1, float r2, float t1,       \
         float t2, float alpha, int fixed) {                                                                          \
        update_tiles<MEASURE, GENERAL>(V, U, Q, solved, share, backward, eliminate, substitute, head, tail, behind,   \
                                       partial, residuals, n, m, rank, per_block, r1, r2, t1, t2, alpha, fixed);      \
    }
UPDATE_TILES(expand_and_update, false, false)
UPDATE_TILES(expand_and_update_any, false, true)
UPDATE_TILES(expand_and_measure, true, false)
UPDATE_TILES(expand_and_measure_any, true, true)

#endif
