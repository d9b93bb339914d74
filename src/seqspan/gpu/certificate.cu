// Objective and lower bound of the fast solver's state.

// Z = V - clip(V, t1); sums (n_blocks, 2) receive ||Z||_1 and ||ZR||_1, partial (gridDim.x, n) squared norms of ZR.
extern "C" __global__ void __launch_bounds__(THREADS)
shrink(const real* __restrict__ V, real* __restrict__ Z, real* __restrict__ partial, real* __restrict__ sums, int n,
       int m, real t1, int fixed) {
    const int i = blockIdx.x * THREADS + threadIdx.x, start = blockIdx.y * LENGTH;
    const bool inside = i < m;
    const size_t at = (size_t)start * m + i;
    real squares[LENGTH], total[2] = {0, 0}, previous = 0;
    if (inside && start > 0) {
        const real v = V[at - m];
        previous = v - multiplier_of_v(v, t1, fixed && start - 1 == i);
    }
#pragma unroll
    for (int j = 0; j < LENGTH; ++j) {
        const bool exists = inside && start + j < n;
        const real v = exists ? V[at + (size_t)j * m] : 0;
        const real z = v - multiplier_of_v(v, t1, fixed && start + j == i);
        const real step = exists && start + j > 0 ? z - previous : 0;
        if (exists) Z[at + (size_t)j * m] = z;
        total[0] += abs(z);
        total[1] += abs(step);
        squares[j] = step * step;
        previous = z;
    }
    write_step_sums(squares, partial, n);
    write_block_sums<2>(total, sums);
}

// Clip the multiplier r2 b in time until |X^T E - V R^T| <= band: a warp follows 32 atoms through one of the bands, from
// the first step to the last, as what is allowed depends on all that came before.
//
// squares (m / 32, BANDS, n rounded up to 32) receives squared norms of the clipped columns; extremes (m / 32, 2,
// BANDS) the largest entry of the clipped V and of |X^T E - V R^T|.
extern "C" __global__ void __launch_bounds__(32 * BANDS)
tighten(const real* __restrict__ U, const real* __restrict__ correlations, const real* __restrict__ share,
        const real* __restrict__ sums, real* __restrict__ squares, real* __restrict__ extremes, int n, int m, real r2,
        real t2, int fixed, real band_0, real band_1, real band_2, real band_3) {
    const int lane = threadIdx.x & 31, which = threadIdx.x >> 5, i = blockIdx.x * 32 + lane;
    const int n_chunks = (n + 31) / 32;
    const real band = which == 0 ? band_0 : which == 1 ? band_1 : which == 2 ? band_2 : band_3;
    real u[32], c[32], q = lane < n ? share[lane] : 0, previous = 0, largest = 0, worst = 0;
    real ahead = sums[i], passed = fixed && i < n ? HUGE_REAL : 0;  // the free entry of the diagonal lies ahead
#pragma unroll
    for (int j = 0; j < 32; ++j) {
        u[j] = j < n ? U[(size_t)j * m + i] : 0;
        c[j] = j < n ? correlations[(size_t)j * m + i] : 0;
    }
    for (int chunk = 0; chunk < n_chunks; ++chunk) {
        const int start = chunk * 32, after = start + 32;
        const real next_q = after + lane < n ? share[after + lane] : 0;
        real x[32];
#pragma unroll
        for (int j = 0; j < 32; ++j) {
            const int t = start + j;
            const real free = fixed && t == i ? HUGE_REAL : 0;
            if (fixed && t == i) passed = 0;
            ahead = t < n - 1 ? ahead - c[j] : 0;  // rounding must not be left over after the last step
            const real target = r2 * clip(__shfl_sync(ALL, q, j) * u[j], t2);
            const real reach = band * (real)(n - 1 - t), center = previous - c[j];
            const real low = max(center - band - free, ahead - reach - passed);
            const real high = min(center + band + free, ahead + reach + passed);
            const real v = max(low, min(target, high));
            x[j] = t < n ? v * v : 0;
            if (t < n) {
                largest = max(largest, abs(v));
                worst = max(worst, abs(center - v) - free);
                previous = v;
            }
            // fetched now, used a chunk later: the recursion need not wait for memory
            u[j] = after + j < n ? U[(size_t)(after + j) * m + i] : 0;
            c[j] = after + j < n ? correlations[(size_t)(after + j) * m + i] : 0;
        }
        q = next_q;
        squares[((size_t)(blockIdx.x * BANDS + which) * n_chunks + chunk) * 32 + lane] = sum_over_atoms(x);
    }
    worst += abs(previous);  // no v follows the last step: whatever is left of it there is an excess too
    for (int half = 16; half >= 1; half >>= 1) {
        largest = max(largest, __shfl_xor_sync(ALL, largest, half));
        worst = max(worst, __shfl_xor_sync(ALL, worst, half));
    }
    if (lane == 0) {
        extremes[blockIdx.x * 2 * BANDS + which] = largest;
        extremes[blockIdx.x * 2 * BANDS + BANDS + which] = worst;
    }
}

// E = Y - sigma fitted in double precision; sigma E, split; rows (rank, 3) receive <E, Y>, <E, E> / 2 and sums of sigma E.
extern "C" __global__ void __launch_bounds__(SOLVERS)
residual(const double* __restrict__ Y, const double* __restrict__ sigma, const real* __restrict__ fitted,
         real* __restrict__ stack, double* __restrict__ rows, int n, int rank) {
    __shared__ double of_warp[SOLVERS / 32][3];
    const int row = blockIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    double sums[3] = {0, 0, 0};
    for (int t = threadIdx.x; t < n; t += SOLVERS) {
        const size_t place = (size_t)row * n + t;
        const double E = Y[place] - sigma[row] * fitted[place];
        const real scaled = (real)(sigma[row] * E);
        write_split(scaled, stack, place, (size_t)n * rank);
        sums[0] += E * Y[place];
        sums[1] += E * E / 2;
        sums[2] += scaled;
    }
    for (int k = 0; k < 3; ++k) {
        for (int half = 16; half >= 1; half >>= 1) sums[k] += __shfl_xor_sync(ALL, sums[k], half);
        if (lane == 0) of_warp[warp][k] = sums[k];
    }
    __syncthreads();
    if (threadIdx.x < 3) {
        double total = 0;
        for (int w = 0; w < SOLVERS / 32; ++w) total += of_warp[w][threadIdx.x];
        rows[row * 3 + threadIdx.x] = total;
    }
}
