// Objective and lower bound at the state of the fast solver.

// Z = V - clip(V, t1); sums (n_blocks, 2) receives ||Z||_1 and ||ZR||_1, partial (gridDim.x, n) squared norms of ZR.
extern "C" __global__ void __launch_bounds__(THREADS)
shrink(const real* __restrict__ V, const int* __restrict__ before, real* __restrict__ Z, real* __restrict__ partial,
       real* __restrict__ sums, int n, int m, real t1, int fixed) {
    const int i = blockIdx.x * THREADS + threadIdx.x, start = blockIdx.y * LENGTH;
    const bool inside = i < m;
    const size_t at = (size_t)start * m + i;
    real x[LENGTH], total[2] = {0, 0}, previous = 0;
#pragma unroll
    for (int j = 0; j < LENGTH; ++j) x[j] = inside && start + j < n ? V[at + (size_t)j * m] : 0;
    if (inside && start > 0) {
        const real v = V[at - m];
        previous = v - multiplier_of_v(v, t1, fixed && start - 1 == i);
    }
#pragma unroll
    for (int j = 0; j < LENGTH; ++j) {
        const bool exists = inside && start + j < n;
        const real z = x[j] - multiplier_of_v(x[j], t1, fixed && start + j == i);
        const real step = exists && before[start + j] > 0 ? z - previous : 0;
        if (exists) Z[at + (size_t)j * m] = z;
        total[0] += abs(z);
        total[1] += abs(step);
        x[j] = step * step;
        previous = z;
    }
    write_step_sums(x, partial, n);
    write_block_sums<2>(total, sums);
}

// E = Y - sigma fitted in double precision; thin (n, width) receives sigma E, rows (rank, 3) receives <E, Y>,
// <E, E> / 2 and the sum of sigma E.
extern "C" __global__ void __launch_bounds__(PATH_THREADS)
residual(const double* __restrict__ Y, const double* __restrict__ sigma, const real* __restrict__ fitted,
         real* __restrict__ thin, double* __restrict__ rows, int n, int width) {
    __shared__ double of_warp[PATH_THREADS / 32][3];
    const int row = blockIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    double sums[3] = {0, 0, 0};
    for (int t = threadIdx.x; t < n; t += PATH_THREADS) {
        const size_t place = (size_t)row * n + t;
        const double E = Y[place] - sigma[row] * fitted[place];
        const real scaled = (real)(sigma[row] * E);
        thin[(size_t)t * width + row] = scaled;
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
        for (int w = 0; w < PATH_THREADS / 32; ++w) total += of_warp[w][threadIdx.x];
        rows[row * 3 + threadIdx.x] = total;
    }
}

// One atom in one band, step by step in time: the rules of seqspan.models.certificate.tighten.
struct Clipped {
    real band, previous, ahead, passed, left, largest, worst, worst_before;

    // Begin a recording of so many steps, whose correlations add up to `sum`; `waits` if the free diagonal entry lies
    // ahead. v must end at zero, so whatever the recording before left after its last step is excess too.
    __device__ __forceinline__ void begin(real sum, real steps, bool waits) {
        worst_before = max(worst_before, worst + abs(previous));
        worst = previous = 0;
        ahead = sum;
        left = steps;
        passed = waits ? HUGE_REAL : 0;
    }

    // Take the next step; `self` is true at a free diagonal entry. Returns the square of the clipped entry.
    __device__ __forceinline__ real step(real target, real c, bool self) {
        const real free = self ? HUGE_REAL : 0;
        passed = self ? 0 : passed;
        left -= 1;
        ahead = left > 0 ? ahead - c : 0;  // after the last step nothing is ahead, not even rounding error
        const real reach = band * left + passed, center = previous - c;
        const real low = max(center - (band + free), ahead - reach);
        const real high = min(center + (band + free), ahead + reach);
        previous = max(low, min(target, high));
        largest = max(largest, abs(previous));
        worst = max(worst, abs(center - previous) - free);
        return previous * previous;
    }
};

// Clip the multiplier r2 b in time until |X^T E - V R^T| <= band. A warp follows 32 atoms through one band from the
// first step to the last, because the allowed range depends on all earlier steps. The other three warps follow the
// same atoms through the other bands. Together, the four warps prefetch the next chunk of 32 steps.
//
// ahead (n_recordings, m) holds the sums of the correlations of every recording, which are clipped one by one.
// squares (m / 32, BANDS, n rounded up to 32) receives the squared norms of the clipped columns, extremes (m / 32, 2,
// BANDS) the largest entry of the clipped V and of |X^T E - V R^T|.
extern "C" __global__ void __launch_bounds__(32 * BANDS)
tighten(const real* __restrict__ U, const real* __restrict__ correlations, const real* __restrict__ share,
        const real* __restrict__ ahead, const int* __restrict__ before, const int* __restrict__ after,
        const int* __restrict__ recording, real* __restrict__ squares, real* __restrict__ extremes, int n, int m, real r2,
        real t2, int fixed, real band_0, real band_1, real band_2, real band_3) {
    constexpr int PART = 32 / BANDS;  // steps of a chunk that a warp fetches
    __shared__ real target[2][32][32], c[2][32][32];
    const int lane = threadIdx.x & 31, which = threadIdx.x >> 5, i = blockIdx.x * 32 + lane;
    const int n_chunks = (n + 31) / 32;
    Clipped atom = {which == 0 ? band_0 : which == 1 ? band_1 : which == 2 ? band_2 : band_3, 0, 0, 0, 0, 0, 0, 0};
    for (int chunk = -1; chunk < n_chunks; ++chunk) {
        const int here = chunk & 1, start = chunk * 32, next = start + 32 + which * PART;
        real u[PART], next_c[PART];
#pragma unroll
        for (int j = 0; j < PART; ++j) {  // prefetch the next chunk while this one is processed
            const bool exists = next + j < n;
            const size_t place = (size_t)(next + j) * m + i;
            u[j] = exists ? share[next + j] * U[place] : 0;
            next_c[j] = exists ? correlations[place] : 0;
        }
        if (chunk >= 0) {
            real x[32];
            const unsigned firsts = __ballot_sync(ALL, start + lane < n && before[min(start + lane, n - 1)] == 0);
            if (start + 32 <= n && !firsts) {
#pragma unroll
                for (int j = 0; j < 32; ++j)
                    x[j] = atom.step(target[here][j][lane], c[here][j][lane], fixed && start + j == i);
            } else {
#pragma unroll
                for (int j = 0; j < 32; ++j) {
                    const int t = start + j;
                    if (firsts >> j & 1)
                        atom.begin(ahead[(size_t)recording[t] * m + i], (real)(after[t] + 1),
                                   fixed && t <= i && i <= t + after[t]);
                    x[j] = t >= n ? 0 : atom.step(target[here][j][lane], c[here][j][lane], fixed && t == i);
                }
            }
            squares[((size_t)(blockIdx.x * BANDS + which) * n_chunks + chunk) * 32 + lane] = sum_over_atoms(x);
        }
#pragma unroll
        for (int j = 0; j < PART; ++j) {
            target[1 - here][which * PART + j][lane] = r2 * clip(u[j], t2);
            c[1 - here][which * PART + j][lane] = next_c[j];
        }
        __syncthreads();
    }
    atom.begin(0, 0, false);  // there is no other recording, but the last one is complete
    for (int half = 16; half >= 1; half >>= 1) {
        atom.largest = max(atom.largest, __shfl_xor_sync(ALL, atom.largest, half));
        atom.worst_before = max(atom.worst_before, __shfl_xor_sync(ALL, atom.worst_before, half));
    }
    if (lane == 0) {
        extremes[blockIdx.x * 2 * BANDS + which] = atom.largest;
        extremes[blockIdx.x * 2 * BANDS + BANDS + which] = atom.worst_before;
    }
}

// Sum parts (n_parts, size) to total (size,).
extern "C" __global__ void add_parts(const real* __restrict__ parts, double* __restrict__ total, int n_parts,
                                     int size) {
    const int place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place >= size) return;
    double sum = 0;
#pragma unroll 8
    for (int part = 0; part < n_parts; ++part) sum += parts[(size_t)part * size + place];
    total[place] = sum;
}

// Sum or maximum of a value over all threads of a block.
template <bool LARGEST>
__device__ double over_block(double x) {
    __shared__ double of_warp[32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int half = 16; half >= 1; half >>= 1) {
        const double other = __shfl_xor_sync(ALL, x, half);
        x = LARGEST ? max(x, other) : x + other;
    }
    __syncthreads();
    if (lane == 0) of_warp[warp] = x;
    __syncthreads();
    x = of_warp[0];
    for (int w = 1; w < (blockDim.x >> 5); ++w) x = LARGEST ? max(x, of_warp[w]) : x + of_warp[w];
    return x;
}

// Reduce all parts of a certificate to 6 + 3 BANDS numbers, in a single block: fit, l1 norms of Z and ZR, sum of the
// norms of ZR's columns, <E, Y>, <E, E> / 2, then for every band the largest squared column norm, entry and excess.
extern "C" __global__ void __launch_bounds__(PATH_THREADS)
collect(const double* __restrict__ rows, const real* __restrict__ sums, const double* __restrict__ jumps,
        const double* __restrict__ lengths, const real* __restrict__ extremes, double* __restrict__ found, int rank,
        int n_sums, int n, int n_steps, int n_warps) {
    const int me = threadIdx.x, all = blockDim.x;
    double x[6] = {0, 0, 0, 0, 0, 0};
    for (int i = me; i < rank; i += all) {
        x[0] += rows[i * 3 + 1];  // at Z
        x[4] += rows[(rank + i) * 3];  // at S
        x[5] += rows[(rank + i) * 3 + 1];
    }
    for (int i = me; i < n_sums; i += all) {
        x[1] += sums[2 * i];
        x[2] += sums[2 * i + 1];
    }
    for (int t = me; t < n; t += all) x[3] += sqrt(jumps[t]);
    for (int k = 0; k < 6; ++k) {
        const double total = over_block<false>(x[k]);
        if (me == 0) found[k] = total;
    }
    for (int band = 0; band < BANDS; ++band) {
        double longest = 0, largest = 0, worst = 0;
        for (int t = me; t < n_steps; t += all) longest = max(longest, lengths[(size_t)band * n_steps + t]);
        for (int w = me; w < n_warps; w += all) {
            largest = max(largest, (double)extremes[w * 2 * BANDS + band]);
            worst = max(worst, (double)extremes[w * 2 * BANDS + BANDS + band]);
        }
        longest = over_block<true>(longest);
        largest = over_block<true>(largest);
        worst = over_block<true>(worst);
        if (me > 0) continue;
        found[6 + band] = longest;
        found[6 + BANDS + band] = largest;
        found[6 + 2 * BANDS + band] = worst;
    }
}
