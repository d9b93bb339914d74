// Shared by the device functions. Each has a NumPy twin in tests/solvers/gpu/plain_device_functions.py.
//
// Arrays (n, m) hold one time step per row and one atom per column. A thread follows one atom through a piece of
// LENGTH time steps (blockIdx.y); neighbouring threads follow neighbouring atoms. V, U, the shares q, t1 and t2 are
// those of seqspan/solvers/fast/loops.py, the tables of a piece those of seqspan/solvers/gpu/pieces.py. `fixed` is 1
// if the diagonal of Z must be zero: t1 is then infinite on the diagonal.

#ifndef REAL
#define REAL float
#endif
typedef REAL real;

constexpr int LENGTH = 32;  // time steps per piece: as many as a warp has lanes, see sum_over_atoms
constexpr int THREADS = 512 / sizeof(real);  // per block: three pieces of this many atoms fit in any shared memory
constexpr int WARPS = THREADS / 32;
constexpr int BANDS = 4;           // band widths that tighten tries
constexpr int RUNS = 16;           // of pieces that threads of join follow at the same time
constexpr int PATH_THREADS = 512;  // threads per block of solve_path, residual and collect
constexpr unsigned ALL = 0xffffffffu;
constexpr real HUGE_REAL = (real)1e30;

__device__ __forceinline__ real clip(real value, real bound) { return min(max(value, -bound), bound); }

__device__ __forceinline__ real multiplier_of_v(real v, real t1, bool free) { return free ? v : clip(v, t1); }

// Sum x[j] over the lanes of a warp for 32 j at once, with 31 exchanges instead of 160: lane j gets the sum of x[j].
template <int HALF>
__device__ __forceinline__ void add_halves(real (&x)[32], int lane) {
    const bool upper = lane & HALF;
#pragma unroll
    for (int j = 0; j < HALF; ++j) {
        const real given = upper ? x[j] : x[j + HALF];
        const real kept = upper ? x[j + HALF] : x[j];
        x[j] = kept + __shfl_xor_sync(ALL, given, HALF);
    }
}

__device__ __forceinline__ real sum_over_atoms(real (&x)[32]) {
    const int lane = threadIdx.x & 31;
    add_halves<16>(x, lane);
    add_halves<8>(x, lane);
    add_halves<4>(x, lane);
    add_halves<2>(x, lane);
    add_halves<1>(x, lane);
    return x[0];
}

// Write the sums of a block's atoms at each step of the piece to row blockIdx.x of partial (gridDim.x, n).
__device__ __forceinline__ void write_step_sums(real (&x)[32], real* partial, int n) {
    __shared__ real of_warp[WARPS][32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, t = blockIdx.y * LENGTH + lane;
    of_warp[warp][lane] = sum_over_atoms(x);
    __syncthreads();
    if (warp == 0 && t < n) {
        real total = 0;
        for (int w = 0; w < WARPS; ++w) total += of_warp[w][lane];
        partial[(size_t)blockIdx.x * n + t] = total;
    }
}

// Write the sums of COUNT values over a block to its place in partial (n_blocks, COUNT).
template <int COUNT>
__device__ __forceinline__ void write_block_sums(real (&x)[COUNT], real* partial) {
    __shared__ real of_warp[WARPS][COUNT];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
#pragma unroll
    for (int c = 0; c < COUNT; ++c) {
        for (int half = 16; half >= 1; half >>= 1) x[c] += __shfl_xor_sync(ALL, x[c], half);
        if (lane == 0) of_warp[warp][c] = x[c];
    }
    __syncthreads();
    if (threadIdx.x < COUNT) {
        real total = 0;
        for (int w = 0; w < WARPS; ++w) total += of_warp[w][threadIdx.x];
        partial[((size_t)blockIdx.y * gridDim.x + blockIdx.x) * COUNT + threadIdx.x] = total;
    }
}

#ifdef SPLIT
// Round to the 10 fraction bits that tensor cores use.
__device__ __forceinline__ real round_to_ten_bits(real x) {
    return __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u);
}
#endif

// Split x for the fast products (see products.py) into row t of stack (n, 3 width): its leading bits twice, then the
// rest. Without SPLIT, write x unchanged to stack (n, width).
__device__ __forceinline__ void write_split(real x, real* __restrict__ stack, int t, int i, int width) {
#ifdef SPLIT
    real* place = stack + (size_t)t * 3 * width + i;
    const real leading = round_to_ten_bits(x);
    place[0] = place[width] = leading;
    place[2 * width] = round_to_ten_bits(x - leading);
#else
    stack[(size_t)t * width + i] = x;
#endif
}
