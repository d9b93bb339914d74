// Costs of all spans of a grid, and the dynamic programme over them. The twins of the loops in loops.py.
//
// FEATURES is the number of features of a sample, MOMENTS that of the sums and products that a cost is computed from.

constexpr int MOMENTS = FEATURES + FEATURES * (FEATURES + 1) / 2;
constexpr int MAX_TABLES = 4;  // arrays of costs that are filled at once
constexpr int SIDE = 32;       // of the blocks of threads in add_spans
constexpr int COST_THREADS = 128;  // per block of fill_costs

// Sums of the samples between neighbouring grid points and of their products, one block per cell: moments
// (n_cells, MOMENTS), first the sums, then the lower triangle of the products, row by row.
extern "C" __global__ void sum_cells(const double* __restrict__ Y, const int* __restrict__ places,
                                     double* __restrict__ moments) {
    const int k = threadIdx.x;
    if (k >= MOMENTS) return;
    int i = k, j = -1;  // a sum, unless it is a product of features i and j
    if (k >= FEATURES) {
        i = 0;
        for (j = k - FEATURES; j > i; ++i) j -= i + 1;
    }
    double total = 0;
    for (int t = places[blockIdx.x]; t < places[blockIdx.x + 1]; ++t) {
        const double* y = Y + (size_t)t * FEATURES;
        total += j < 0 ? y[i] : y[i] * y[j];
    }
    moments[(size_t)blockIdx.x * MOMENTS + k] = total;
}

// Sums (n_blocks, d) of the rows (n, d) between neighbouring places.
extern "C" __global__ void sum_blocks(const double* __restrict__ rows, const int* __restrict__ places,
                                      double* __restrict__ sums, int d) {
    const int i = blockIdx.y * blockDim.x + threadIdx.x;
    if (i >= d) return;
    double total = 0;
    for (int t = places[blockIdx.x]; t < places[blockIdx.x + 1]; ++t) total += rows[(size_t)t * d + i];
    sums[(size_t)blockIdx.x * d + i] = total;
}

#if FEATURES <= 16  // more have no room in registers, and views of spans have no more
// Add the cost of every span [start, end) of at least `shortest` cells to C (n_tables, n_grid, n_grid), one thread for
// each. `until` (MOMENTS, n_grid) holds the moments of all samples before a grid point, so those of a span are a
// difference; the pivots of its scatter plus the prior give the log determinants.
extern "C" __global__ void __launch_bounds__(COST_THREADS)
fill_costs(const double* __restrict__ until, const int* __restrict__ places, const long long* __restrict__ sizes,
           const double* __restrict__ slopes, const double* __restrict__ tables, float* __restrict__ C, int n_grid,
           int shortest, int n_groups, int n_tables, int n_lengths, double prior) {
    const int start = blockIdx.y, end = blockIdx.x * COST_THREADS + threadIdx.x;
    if (end >= n_grid || end - start < shortest) return;
    const int length = places[end] - places[start];
    const double inverse = 1.0 / (length + 1.0);
    double sums[FEATURES], A[FEATURES][FEATURES], totals[MAX_TABLES] = {0, 0, 0, 0}, product = 1;
#pragma unroll
    for (int i = 0; i < FEATURES; ++i) sums[i] = until[(size_t)i * n_grid + end] - until[(size_t)i * n_grid + start];
#pragma unroll
    for (int i = 0; i < FEATURES; ++i)
#pragma unroll
        for (int j = 0; j <= i; ++j) {
            const size_t row = (size_t)(FEATURES + i * (i + 1) / 2 + j) * n_grid;
            A[i][j] = until[row + end] - until[row + start] - sums[i] * sums[j] * inverse + (i == j ? prior : 0);
        }
    int group = 0;
#pragma unroll
    for (int k = 0; k < FEATURES; ++k) {
        const double reciprocal = 1.0 / A[k][k];
        product *= A[k][k];
#pragma unroll
        for (int i = k + 1; i < FEATURES; ++i) {
            const double ratio = A[i][k] * reciprocal;
#pragma unroll
            for (int j = k + 1; j <= i; ++j) A[i][j] -= ratio * A[j][k];
        }
        for (; group < n_groups && sizes[group] == k + 1; ++group) {
            const double logarithm = log(product);
            product = 1;
            for (int table = 0; table < n_tables; ++table) {
                const double* slope = slopes + 2 * (table * n_groups + group);
                totals[table] += logarithm * (slope[0] + length * slope[1]);
            }
        }
    }
    for (int table = 0; table < n_tables; ++table)
        C[((size_t)table * n_grid + start) * n_grid + end] +=
            (float)(totals[table] + tables[(size_t)table * n_lengths + length]);
}
#endif

// Wait until all blocks of a cooperative launch that share a counter are here; `goal` is the number of blocks times that of waits so far.
__device__ __forceinline__ void wait_for_all(unsigned* arrived, unsigned goal) {
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        __threadfence();
        atomicAdd(arrived, 1u);
        while (atomicAdd(arrived, 0u) < goal) {
        }
        __threadfence();
    }
    __syncthreads();
}

// Add spans one by one: best[k, j] = min over i <= j - shortest of best[k - 1, i] + C[i, j], for k = 1, ..., n_more.
// Each table of C (n_tables, n_grid, n_grid), blockIdx.y, has its own search; the first row of its best
// (n_tables, n_more + 1, n_grid) is given. A cooperative launch: all blocks of a table finish a row before the next.
extern "C" __global__ void __launch_bounds__(SIDE * SIDE)
add_spans(const float* __restrict__ C, double* best, unsigned* arrived, int n_grid, int shortest, int n_more) {
    __shared__ double of_row[SIDE][SIDE + 1];
    C += (size_t)blockIdx.y * n_grid * n_grid;
    best += (size_t)blockIdx.y * (n_more + 1) * n_grid;
    for (int k = 1; k <= n_more; ++k) {
        const double* before = best + (size_t)(k - 1) * n_grid;
        for (int first = blockIdx.x * SIDE; first < n_grid; first += gridDim.x * SIDE) {
            const int j = first + threadIdx.x;
            double least = __longlong_as_double(0x7ff0000000000000LL);  // infinite
            if (j < n_grid) {
#pragma unroll 4
                for (int i = threadIdx.y; i <= j - shortest; i += SIDE)
                    least = min(least, __ldcg(before + i) + C[(size_t)i * n_grid + j]);  // not from this core's cache
            }
            of_row[threadIdx.y][threadIdx.x] = least;
            __syncthreads();
            for (int half = SIDE / 2; half >= 1; half /= 2) {
                if (threadIdx.y < half)
                    of_row[threadIdx.y][threadIdx.x] =
                        min(of_row[threadIdx.y][threadIdx.x], of_row[threadIdx.y + half][threadIdx.x]);
                __syncthreads();
            }
            if (threadIdx.y == 0 && j < n_grid) best[(size_t)k * n_grid + j] = of_row[0][threadIdx.x];
            __syncthreads();
        }
        wait_for_all(arrived + blockIdx.y, gridDim.x * k);
    }
}

// Cost of two groups of samples together, for every pair (ones[k], others[k]): one warp per pair, one lane per feature.
// Groups are given by counts (n_groups,), totals (n_groups, FEATURES) and products (n_groups, FEATURES, FEATURES).
// Lane i also adds what feature i and group of features i contribute; `shares` and `halves` (FEATURES,) are those of
// ViewModel.length_term, and sizes and slopes as for fill_costs.
#if FEATURES <= 32
extern "C" __global__ void __launch_bounds__(COST_THREADS)
pair_costs(const double* __restrict__ counts, const double* __restrict__ totals, const double* __restrict__ products,
           const int* __restrict__ ones, const int* __restrict__ others, const long long* __restrict__ sizes,
           const double* __restrict__ slopes, const double* __restrict__ shares, const double* __restrict__ halves,
           double* __restrict__ costs, int n_pairs, int n_groups, double prior, double weight, double constant) {
    constexpr unsigned ALL = 0xffffffffu;
    const int pair = (blockIdx.x * COST_THREADS + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (pair >= n_pairs) return;
    const int one = ones[pair], other = others[pair], i = min(lane, FEATURES - 1);
    const double count = counts[one] + counts[other];
    const double own = totals[(size_t)one * FEATURES + i] + totals[(size_t)other * FEATURES + i];
    const double* first = products + (size_t)one * FEATURES * FEATURES + i;
    const double* second = products + (size_t)other * FEATURES * FEATURES + i;
    double A[FEATURES], product = 1, mine = 1;
#pragma unroll
    for (int j = 0; j < FEATURES; ++j)
        A[j] = first[j * FEATURES] + second[j * FEATURES] - own * __shfl_sync(ALL, own, j) / (count + 1) +
               (i == j ? prior : 0);
    int group = 0;
#pragma unroll
    for (int k = 0; k < FEATURES; ++k) {
        const double pivot = __shfl_sync(ALL, A[k], k), ratio = A[k] / pivot;
#pragma unroll
        for (int j = k + 1; j < FEATURES; ++j) A[j] -= ratio * __shfl_sync(ALL, A[j], k);
        product *= pivot;
        if (sizes[group] == k + 1) {
            mine = lane == group ? product : mine;
            product = 1;
            ++group;
        }
    }
    double cost = lane == 0 ? weight * log1p(count) - constant : 0;
    if (lane < n_groups) cost += log(mine) * (slopes[2 * lane] + count * slopes[2 * lane + 1]);
    if (lane < FEATURES) cost += shares[lane] * (lgamma(halves[lane]) - lgamma(halves[lane] + count / 2));
    for (int half = 16; half >= 1; half /= 2) cost += __shfl_xor_sync(ALL, cost, half);
    if (lane == 0) costs[pair] = cost;
}
#endif
