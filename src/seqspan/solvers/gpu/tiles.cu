// Both passes of an iteration together with their thin products, so that neither F nor D is ever written.
//
// A warp takes one piece of time and 32 atoms after the other. Threads follow atoms, as in iteration.cu. Tensor cores
// multiply tiles of 16 x 8 by tiles of 8 x 8 numbers that are spread over the registers of a warp, so F and D change
// hands in shared memory. Q comes in tiles as products.py arranges them. Each factor is split into two numbers of ten
// bits. What the next atoms need is fetched as soon as there is room for it, so that the memory is never idle.

#ifdef SPLIT

constexpr int RANK_TILE = 64;      // rows of Q that the first pass multiplies by
constexpr int BUILD_STRIDE = 40;   // between rows of F in shared memory, and
constexpr int UPDATE_STRIDE = 36;  // between atoms of D: few threads meet in a bank

// Step j of an array whose steps are so many bytes apart.
template <class T>
__device__ __forceinline__ T* step_of(T* first, int j, unsigned pitch) {
    T* place;
    asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(place) : "r"(pitch), "r"(j), "l"(first));
    return place;
}

// Begin to copy to shared memory, without waiting and without registers. What the compiler fetches into registers ahead
// of time, it waits for as soon as it runs out of registers, or enters a loop.
template <int BYTES>
__device__ __forceinline__ void begin_copy(const void* source, void* target) {
    const unsigned place = (unsigned)__cvta_generic_to_shared(target);
    if (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place), "l"(source) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(place), "l"(source) : "memory");
}

// Copies begun until now are waited for together: finish_copies waits for all but the last `LATER` of such groups.
__device__ __forceinline__ void end_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int LATER>
__device__ __forceinline__ void finish_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(LATER) : "memory");
    __syncwarp();
}

// Copy a tile of Q, numbers that belong to a warp.
__device__ __forceinline__ void begin_tile(const float4* __restrict__ source, float4* target, int count) {
#pragma unroll 4
    for (int k = threadIdx.x & 31; k < count; k += 32) begin_copy<16>(source + k, target + k);
}

// Copy 32 atoms of a piece, rows of which are `pitch` bytes apart, to target (LENGTH, 32).
__device__ __forceinline__ void begin_piece(const float* source, float* target, unsigned pitch) {
    const int lane = threadIdx.x & 31, row = lane >> 3, column = 4 * (lane & 7);
    const float* mine = step_of(source + column, row, pitch);
#pragma unroll
    for (int j = 0; j < LENGTH; j += 4)
        begin_copy<16>(step_of(mine, j, pitch), target + 32 * (row + j) + column);
}

// What the ten leading bits of a number leave. Tensor cores ignore the others, so the number is its leading part.
__device__ __forceinline__ float rest_of(float x) {
    return x - __uint_as_float(__float_as_uint(x) & 0xffffe000u);
}

// Two numbers, rounded to their ten leading bits, and what that leaves.
__device__ __forceinline__ float4 split(float one, float other) {
    const float a = round_to_ten_bits(one), b = round_to_ten_bits(other);
    return make_float4(a, b, one - a, other - b);
}

__device__ __forceinline__ void multiply(float (&c)[4], const float (&a)[4], float b0, float b1) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])),
          "r"(__float_as_uint(a[3])), "r"(__float_as_uint(b0)), "r"(__float_as_uint(b1)));
}

// sum (16, 32) += A (16, 8) times B (8, 32) in a warp. Lane 4 g + c has rows g and g + 8 of columns c and c + 4 of A,
// one after the other, and of every 8 columns of B it has rows c and c + 4 of column g, split.
__device__ __forceinline__ void multiply_split(float4 tile, const float4 (&b)[4], float (&sum)[4][4]) {
    const float a[4] = {tile.x, tile.y, tile.z, tile.w};
    const float rest[4] = {rest_of(a[0]), rest_of(a[1]), rest_of(a[2]), rest_of(a[3])};
    // one product waits for another only if both add to the same sum
#pragma unroll
    for (int k = 0; k < 4; ++k) multiply(sum[k], rest, b[k].x, b[k].y);
#pragma unroll
    for (int k = 0; k < 4; ++k) multiply(sum[k], a, b[k].z, b[k].w);
#pragma unroll
    for (int k = 0; k < 4; ++k) multiply(sum[k], a, b[k].x, b[k].y);
}

// r2 (J - b) in U. Unless the model is entrywise, that is a share x of U; otherwise x is the multiplier's, before it is
// clipped.
template <bool GENERAL>
__device__ __forceinline__ float reflected(float u, float x, float r2, float t2) {
    return GENERAL ? r2 * fmaf(-2, clip(x * u, t2), u) : x * u;
}

template <bool GENERAL>
__device__ __forceinline__ float share_of_u(float q, float r2) {
    return GENERAL ? q : r2 * fmaf(-2, q, 1);
}

#endif
