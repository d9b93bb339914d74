// First pass of an iteration and the product with F.

#ifdef SPLIT

constexpr int BUILD_WARPS = 5;  // per block, for which two blocks find room in shared memory
constexpr int BUILD_BUFFER = 2 * LENGTH * 32 + LENGTH * BUILD_STRIDE + 32 * RANK_TILE;  // numbers of a warp

// Add to sum (RANK_TILE, LENGTH) the product of tiles of Q with one of F (LENGTH, 32).
__device__ __forceinline__ void add_product(const float4* Q, const float* F, float (&sum)[4][4][4]) {
    const int lane = threadIdx.x & 31, g = lane >> 2, c = lane & 3;
#pragma unroll
    for (int part = 0; part < 4; ++part) {
        float4 f[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const float2 pair = *(const float2*)(F + (8 * k + g) * BUILD_STRIDE + 8 * part + 2 * c);
            f[k] = split(pair.x, pair.y);
        }
#pragma unroll
        for (int j = 0; j < 4; ++j) multiply_split(Q[(4 * part + j) * 32 + lane], f, sum[j]);
    }
}

// Write the sum over all warps of a block to its steps of products (gridDim.y, rank, n).
__device__ __forceinline__ void write_product(const float (&sum)[4][4][4], float* shared, float* __restrict__ products,
                                              int first, int rank, int n) {
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, g = lane >> 2, c = lane & 3;
    for (int w = 0; w < BUILD_WARPS; ++w) {
        __syncthreads();
        if (warp != w) continue;
#pragma unroll
        for (int part = 0; part < 32; ++part) {
            const int j = part >> 3, k = part >> 1 & 3, half = part & 1;
            float* at = shared + (16 * j + 8 * half + g) * UPDATE_STRIDE + 8 * k + 2 * c;
            at[0] = (w > 0 ? at[0] : 0) + sum[j][k][2 * half];
            at[1] = (w > 0 ? at[1] : 0) + sum[j][k][2 * half + 1];
        }
    }
    __syncthreads();
    const int t = blockIdx.x * LENGTH + lane;
    for (int row = warp; row < min(RANK_TILE, rank - first); row += BUILD_WARPS)
        if (t < n) products[((size_t)blockIdx.y * rank + first + row) * n + t] = shared[row * UPDATE_STRIDE + lane];
}

// First pass: what `build` in iteration.cu does, and the product with Q instead of F. behind is multiplied by r2.
template <bool GENERAL>
__device__ __forceinline__ void build_tiles(
    const float* __restrict__ V, const float* __restrict__ U, const float4* __restrict__ Q,
    const float* __restrict__ share, const float* __restrict__ forward, const float* __restrict__ carry,
    const float* __restrict__ weight, float* __restrict__ products, float* __restrict__ head,
    float* __restrict__ tail, float* __restrict__ behind, int n, int m, int rank, int per_block, float r1, float r2,
    float t1, float t2, int fixed) {
    constexpr int Q_SIZE = RANK_TILE * 32 / 4;
    __shared__ float4 table[LENGTH];
    __shared__ float behind_tiles[BUILD_WARPS][32];
    extern __shared__ float4 shared[];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, start = blockIdx.x * LENGTH;
    const int end = min((int)(blockIdx.y + 1) * per_block, m / 32), t = start + lane;
    if (warp == 0) {
        float later = t + 1 < n && lane < 31 ? carry[t + 1] : 0, inverse = t < n ? forward[t] : 0;
        if (lane == 31 || t + 1 == n) later = 1;
        // weights of the tail: carried over all later steps of the piece
        for (int distance = 1; distance < 32; distance *= 2) {
            const float other = __shfl_down_sync(ALL, later, distance);
            if (lane + distance < 32) later *= other;
        }
        table[lane] = make_float4(share_of_u<GENERAL>(t < n ? share[t] : 0, r2), later * inverse,
                                  t < n ? weight[t] : 0, 0);
    }
    const float share_before = start > 0 ? share_of_u<GENERAL>(share[start - 1], r2) : 0;
    float* v = (float*)shared + warp * BUILD_BUFFER;
    float *u = v + LENGTH * 32, *F = u + LENGTH * 32, *u_before = behind_tiles[warp], sum[4][4][4] = {};
    float4* my_Q = (float4*)(F + LENGTH * BUILD_STRIDE);
    const unsigned pitch = 4 * m;
    int tile = blockIdx.y * per_block + warp;
    V += (size_t)start * m + 32 * tile;
    U += (size_t)start * m + 32 * tile;
    Q += ((size_t)blockIdx.z * (m / 32) + tile) * Q_SIZE;
    const auto begin_state = [&]() {
        begin_piece(V, v, pitch);
        begin_piece(U, u, pitch);
        if (start > 0) begin_copy<4>(U - m + lane, u_before + lane);
    };
    if (tile < end) begin_state();
    end_group();
    if (tile < end) begin_tile(Q, my_Q, Q_SIZE);
    end_group();
    __syncthreads();
    for (; tile < end; tile += BUILD_WARPS) {
        const int i = 32 * tile + lane;
        const bool more = tile + BUILD_WARPS < end;  // then the next atoms are fetched as soon as there is room
        finish_copies<1>();
        float before = start > 0 ? reflected<GENERAL>(u_before[lane], share_before, r2, t2) : 0, left = 0, first = 0;
#pragma unroll 8
        for (int j = 0; j < LENGTH; ++j) {
            const float4 e = table[j];
            const float my_v = v[32 * j + lane], after = reflected<GENERAL>(u[32 * j + lane], e.x, r2, t2);
            const float a = multiplier_of_v(my_v, t1, GENERAL && fixed && start + j == i);
            const float f = fmaf(r1, fmaf(-2, a, my_v), before - after);
            F[j * BUILD_STRIDE + lane] = f;
            left = fmaf(f, e.y, left);
            first = fmaf(f, e.z, first);
            before = after;
        }
        __syncwarp();
        V += 32 * BUILD_WARPS;
        U += 32 * BUILD_WARPS;
        Q += BUILD_WARPS * Q_SIZE;
        if (more) begin_state();
        end_group();
        if (blockIdx.z == 0) {
            const size_t place = (size_t)blockIdx.x * m + i;
            head[place] = first;
            tail[place] = left;
            behind[place] = before;
        }
        finish_copies<1>();
        add_product(my_Q, F, sum);
        __syncwarp();
        if (more) begin_tile(Q, my_Q, Q_SIZE);
        end_group();
    }
    write_product(sum, (float*)shared, products, blockIdx.z * RANK_TILE, rank, n);
}

#define BUILD(NAME, GENERAL)                                                                                          \
    extern "C" __global__ void __launch_bounds__(32 * BUILD_WARPS, 2)                                                    \
    NAME(const float* V, const float* U, const float4* Q, const float* share, const float* forward,                    \
         const float* carry, const float* weight, float* products, float* head, float* tail, float* behind, int n,    \
         int m, int rank, int per_block, float r1, float r2, float t1, float t2, int fixed) {                         \
        build_tiles<GENERAL>(V, U, Q, share, forward, carry, weight, products, head, tail, behind, n, m, rank,        \
                             per_block, r1, r2, t1, t2, fixed);                                                       \
    }
BUILD(build_and_project, false)
BUILD(build_and_project_any, true)

// thin (size,) = sum of products (n_parts, size).
extern "C" __global__ void add_products(const float* __restrict__ products, float* __restrict__ thin, int n_parts,
                                        int size) {
    const int place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place >= size) return;
    float total = 0;
#pragma unroll 8
    for (int part = 0; part < n_parts; ++part) total += products[(size_t)part * size + place];
    thin[place] = total;
}

#endif
