// One iteration of the fast solver, and its preparation.

// First pass: F = r1 (Z - a) + r2 (J - b) R^T, where U is zero at the last step of every recording, and the contribution of a piece to the eliminations at both its ends.
//
// head: the elimination from the last step, at the piece's first step; tail: the elimination from the first step, at
// the piece's last step; both as if nothing lay beyond the piece. behind keeps J - b of the last step for the second
// pass, which overwrites U.
extern "C" __global__ void __launch_bounds__(THREADS)
build(const real* __restrict__ V, const real* __restrict__ U, const real* __restrict__ share,
      const real* __restrict__ forward, const real* __restrict__ carry, const real* __restrict__ weight,
      real* __restrict__ F, real* __restrict__ head, real* __restrict__ tail, real* __restrict__ behind, int n, int m,
      real r1, real r2, real t1, real t2, int fixed) {
    __shared__ real q[LENGTH], inverse[LENGTH], ratio[LENGTH], w[LENGTH];
    const int i = blockIdx.x * THREADS + threadIdx.x, start = blockIdx.y * LENGTH;
    const int count = min(LENGTH, n - start);
    if (threadIdx.x < count) {
        q[threadIdx.x] = share[start + threadIdx.x];
        inverse[threadIdx.x] = forward[start + threadIdx.x];
        ratio[threadIdx.x] = carry[start + threadIdx.x];
        w[threadIdx.x] = weight[start + threadIdx.x];
    }
    __syncthreads();
    if (i >= m) return;
    real before = 0, left = 0, first = 0;
    if (start > 0) {
        const real u = U[(size_t)(start - 1) * m + i];
        before = u - 2 * clip(share[start - 1] * u, t2);
    }
    size_t at = (size_t)start * m + i;
#pragma unroll 8
    for (int j = 0; j < count; ++j, at += m) {
        const real v = V[at], u = U[at];
        const real after = u - 2 * clip(q[j] * u, t2);
        const real f = r1 * (v - 2 * multiplier_of_v(v, t1, fixed && start + j == i)) + r2 * (before - after);
        F[at] = f;
        left = f * inverse[j] + ratio[j] * left;
        first += w[j] * f;
        before = after;
    }
    const size_t place = (size_t)blockIdx.y * m + i;
    head[place] = first;
    tail[place] = left;
    behind[place] = before;
}

// Input of a run of pieces: the runs that a recursion reaches before, composed; each maps x to rest + factor x.
template <bool FORWARD>
__device__ __forceinline__ real run_input(real rest, real factor) {
    __shared__ real rests[RUNS][32], factors[RUNS][32];
    const int me = threadIdx.y;
    rests[me][threadIdx.x] = rest;
    factors[me][threadIdx.x] = factor;
    __syncthreads();
    real carried = 0;
    for (int run = FORWARD ? 0 : RUNS - 1; run != me; run += FORWARD ? 1 : -1)
        carried = rests[run][threadIdx.x] + factors[run][threadIdx.x] * carried;
    __syncthreads();
    return carried;
}

// Join the pieces: heads (n_pieces, m) become y at the first step of every piece, tails become x at its last step.
//
// Threads that share an atom follow a run of pieces each, twice: from zero, and then from what enters their run.
extern "C" __global__ void __launch_bounds__(32 * RUNS)
join(real* __restrict__ head, real* __restrict__ tail, const real* __restrict__ fade,
     const real* __restrict__ forward_fade, const real* __restrict__ across, const real* __restrict__ link,
     int n_pieces, int m) {
    const int i = blockIdx.x * 32 + threadIdx.x, length = (n_pieces + RUNS - 1) / RUNS;
    const int start = min((int)threadIdx.y * length, n_pieces), end = min(start + length, n_pieces);
    real rest = 0, factor = 1;
#pragma unroll 8
    for (int k = end - 1; k >= start; --k) {
        rest = head[(size_t)k * m + i] + fade[k] * rest;
        factor *= fade[k];
    }
    real carried = run_input<false>(rest, factor);
#pragma unroll 8
    for (int k = end - 1; k >= start; --k) {
        carried = head[(size_t)k * m + i] + fade[k] * carried;
        head[(size_t)k * m + i] = carried;
    }
    rest = 0, factor = 1;
#pragma unroll 8
    for (int k = start; k < end; ++k) {
        rest = tail[(size_t)k * m + i] + forward_fade[k] * rest;
        factor *= forward_fade[k];
    }
    carried = run_input<true>(rest, factor);  // it waits until all heads are written
#pragma unroll 8
    for (int k = start; k < min(end, n_pieces - 1); ++k) {
        carried = tail[(size_t)k * m + i] + forward_fade[k] * carried;
        tail[(size_t)k * m + i] = (carried + across[k] * head[(size_t)(k + 1) * m + i]) * link[k];
    }
}

// One entry of V += alpha (S - Z); r sums the squared primal residual, its scale, the dual residual and its scale.
template <bool MEASURE>
__device__ __forceinline__ real move_v(real v, real smooth, real t1, real alpha, bool free, real (&r)[8]) {
    const real z = v - multiplier_of_v(v, t1, free), moved = v + alpha * (smooth - z);
    if (MEASURE) {
        const real a = multiplier_of_v(moved, t1, free);
        r[0] += (smooth - moved + a) * (smooth - moved + a);
        r[1] += smooth * smooth;
        r[2] += (moved - a - z) * (moved - a - z);
        r[3] += a * a;
    }
    return moved;
}

// The same for U += alpha (SR - J), with the share q from before the update.
template <bool MEASURE>
__device__ __forceinline__ real move_u(real u, real step, real q, real t2, real alpha, real (&r)[8]) {
    const real jump = u - clip(q * u, t2), moved = u + alpha * (step - jump);
    if (MEASURE) {
        const real b = clip(q * moved, t2);
        r[4] += (step - moved + b) * (step - moved + b);
        r[5] += step * step;
        r[6] += (moved - b - jump) * (moved - b - jump);
        r[7] += b * b;
    }
    return moved;
}

// Second pass: solve for S = F T_0^-1 + D piece by piece, then V += alpha (S - Z) and U += alpha (SR - J).
//
// partial (gridDim.x, n) receives the squared norms of U's new columns, residuals (n_blocks, 8) those of the update.
template <bool MEASURE>
__device__ __forceinline__ void update_piece(
    real* __restrict__ V, real* __restrict__ U, const real* __restrict__ D, const real* __restrict__ share,
    const real* __restrict__ backward, const real* __restrict__ eliminate, const real* __restrict__ substitute,
    const real* __restrict__ head, const real* __restrict__ tail, const real* __restrict__ behind,
    real* __restrict__ partial, real* __restrict__ residuals, int n, int m, real r1, real r2, real t1, real t2,
    real alpha, int fixed) {
    __shared__ real q[LENGTH], inverse[LENGTH], out[LENGTH], in[LENGTH + 1];  // factors of both recursions
    extern __shared__ real columns[];  // V, U and F of the piece; every thread has its own column, so none waits
    real(*v)[THREADS] = (real(*)[THREADS])columns, (*u)[THREADS] = v + LENGTH, (*y)[THREADS] = u + LENGTH;
    const int me = threadIdx.x, i = blockIdx.x * THREADS + me, k = blockIdx.y, start = k * LENGTH;
    if (threadIdx.x <= LENGTH) {
        const bool exists = start + threadIdx.x < n;
        in[threadIdx.x] = exists ? substitute[start + threadIdx.x] : 0;
        if (threadIdx.x < LENGTH) {
            inverse[threadIdx.x] = exists ? backward[start + threadIdx.x] : 0;
            out[threadIdx.x] = exists ? eliminate[start + threadIdx.x] : 0;
            q[threadIdx.x] = exists ? share[start + threadIdx.x] : 0;
        }
    }
    __syncthreads();
    const bool inside = i < m, last = k == gridDim.y - 1;
    const size_t at = (size_t)start * m + i, place = (size_t)k * m + i;
    const int count = inside ? min(LENGTH, n - start) : 0;
    real before = inside && k > 0 ? behind[place - m] : 0, r[8] = {0, 0, 0, 0, 0, 0, 0, 0};
#pragma unroll 16
    for (int j = 0; j < count; ++j) {
        v[j][me] = V[at + (size_t)j * m];
        u[j][me] = U[at + (size_t)j * m];
    }
    real d[LENGTH + 1];  // fetched now, used after the elimination
#pragma unroll
    for (int j = 0; j <= LENGTH; ++j) d[j] = inside && start + j < n ? D[at + (size_t)j * m] : 0;
#pragma unroll 8
    for (int j = 0; j < count; ++j) {
        const real after = u[j][me] - 2 * clip(q[j] * u[j][me], t2);
        y[j][me] = r1 * (v[j][me] - 2 * multiplier_of_v(v[j][me], t1, fixed && start + j == i)) + r2 * (before - after);
        before = after;
    }
    const real beyond = inside && !last ? head[place + m] : 0;
    real carried = beyond;
#pragma unroll 8
    for (int j = count - 1; j >= 0; --j) y[j][me] = carried = y[j][me] * inverse[j] + out[j] * carried;
    real x = inside && k > 0 ? tail[place - m] : 0, smooth = 0;
#pragma unroll
    for (int j = 0; j < LENGTH; ++j) {
        if (j >= count) continue;
        const real previous = smooth;
        x = y[j][me] + in[j] * x;
        smooth = x + d[j];
        V[at + (size_t)j * m] = move_v<MEASURE>(v[j][me], smooth, t1, alpha, fixed && start + j == i, r);
        if (j > 0)  // the last step of a recording has no successor and stays zero
            y[j - 1][me] = in[j] == 0 ? 0 : move_u<MEASURE>(u[j - 1][me], smooth - previous, q[j - 1], t2, alpha, r);
    }
    if (count > 0) {
        const real step = beyond + in[LENGTH] * x + d[LENGTH] - smooth;
        y[count - 1][me] =
            last || in[LENGTH] == 0 ? 0 : move_u<MEASURE>(u[count - 1][me], step, q[count - 1], t2, alpha, r);
    }
    real squares[LENGTH];
#pragma unroll
    for (int j = 0; j < LENGTH; ++j) {
        if (j < count) U[at + (size_t)j * m] = y[j][me];
        squares[j] = j < count ? y[j][me] * y[j][me] : 0;
    }
    write_step_sums(squares, partial, n);
    if (MEASURE) write_block_sums<8>(r, residuals);
}

#define UPDATE(NAME, MEASURE)                                                                                         \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                          \
    NAME(real* V, real* U, const real* D, const real* share, const real* backward, const real* eliminate,             \
         const real* substitute, const real* head, const real* tail, const real* behind, real* partial,               \
         real* residuals, int n, int m, real r1, real r2, real t1, real t2, real alpha, int fixed) {                  \
        update_piece<MEASURE>(V, U, D, share, backward, eliminate, substitute, head, tail, behind, partial,           \
                              residuals, n, m, r1, r2, t1, t2, alpha, fixed);                                         \
    }
UPDATE(update, false)
UPDATE(update_and_measure, true)

// norms = sum of partial (n_parts, n); share = min(1, bound / sqrt(norms)), the multiplier's share of a column of U.
extern "C" __global__ void share_columns(const real* __restrict__ partial, double* __restrict__ norms,
                                         real* __restrict__ share, int n_parts, int n, double bound) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n) return;
    double total = 0;
    for (int part = 0; part < n_parts; ++part) total += partial[(size_t)part * n + t];
    norms[t] = total;
    share[t] = (real)min(1.0, bound / max(sqrt(total), 1e-30));
}

// Subtract a share of both multipliers: V -= drop_1 a, U -= drop_2 b.
extern "C" __global__ void rescale(real* __restrict__ V, real* __restrict__ U, const real* __restrict__ share, int n,
                                   int m, real t1, real t2, real drop_1, real drop_2, int fixed) {
    const int i = blockIdx.x * THREADS + threadIdx.x, start = blockIdx.y * LENGTH;
    if (i >= m) return;
    size_t at = (size_t)start * m + i;
#pragma unroll 8
    for (int t = start; t < min(start + LENGTH, n); ++t, at += m) {
        const real v = V[at], u = U[at];
        V[at] = v - drop_1 * multiplier_of_v(v, t1, fixed && t == i);
        U[at] = u - drop_2 * clip(share[t] * u, t2);
    }
}

// Pivot of shift I + r2 R R^T after `passed` steps of elimination; `ends` is true at the end of the path.
__device__ __forceinline__ double pivot(double shift, double r2, int passed, bool ends) {
    const double root = 2 * r2 / (shift + 2 * r2 + sqrt(shift * (shift + 4 * r2)));
    const double power = pow(root, 2.0 * passed + 1);
    return r2 / root * (1 + power * root * root) / (1 + power) - (ends ? r2 : 0);
}

// Reciprocal pivots of (w_i + r1) I + r2 R R^T, eliminated from the last step of every recording back, in row i of
// inverse (n_rows, n); before and after (n,) count the steps of a recording on either side of each step.
extern "C" __global__ void invert_pivots(const double* __restrict__ w, const int* __restrict__ before,
                                         const int* __restrict__ after, real* __restrict__ inverse, int n_rows, int n,
                                         double r1, double r2) {
    const size_t place = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (place >= (size_t)n_rows * n) return;
    const int t = place % n;
    inverse[place] = (real)(1 / pivot(w[place / n] + r1, r2, after[t], before[t] == 0));
}

// The tables of seqspan/solvers/gpu/pieces.py, one thread per piece.
extern "C" __global__ void cut_into_pieces(real* __restrict__ backward, real* __restrict__ forward,
                                           real* __restrict__ eliminate, real* __restrict__ carry,
                                           real* __restrict__ substitute, real* __restrict__ coupling,
                                           real* __restrict__ weight, real* __restrict__ fade,
                                           real* __restrict__ forward_fade, real* __restrict__ across,
                                           real* __restrict__ link, const int* __restrict__ before,
                                           const int* __restrict__ after, int n, double r1, double r2) {
    const int k = blockIdx.x * blockDim.x + threadIdx.x, start = k * LENGTH, end = min(start + LENGTH, n);
    if (start >= n) return;
    double left = 1, forward_left = 1, to_next = 0, forward_inverse = 0;
    for (int t = start; t < end; ++t) {
        const double inverse = 1 / pivot(r1, r2, after[t], before[t] == 0), to_previous = before[t] > 0 ? r2 : 0;
        forward_inverse = 1 / pivot(r1, r2, before[t], after[t] == 0);
        to_next = after[t] > 0 ? r2 : 0;
        backward[t] = (real)inverse;
        forward[t] = (real)forward_inverse;
        eliminate[t] = (real)(to_next * inverse);
        carry[t] = (real)(to_previous * forward_inverse);
        substitute[t] = (real)(to_previous * inverse);
        coupling[t] = (real)to_next;
        weight[t] = (real)(left * inverse);
        left *= to_next * inverse;
        forward_left *= to_previous * forward_inverse;
    }
    fade[k] = (real)left;
    forward_fade[k] = (real)forward_left;
    const double ratio = end < n ? to_next * forward_inverse : 0;
    across[k] = (real)ratio;
    link[k] = ratio > 0 ? (real)(1 / (1 - ratio * r2 / pivot(r1, r2, after[end], false))) : 1;
}

struct Affine {  // x -> rest + factor x
    real factor, rest;
};

// Input of a thread's run of steps: the composition of all runs after it (FORWARD: before it), applied to zero.
template <bool FORWARD>
__device__ __forceinline__ real carry_in(Affine run, Affine* shared) {
    const int me = threadIdx.x;
    for (int distance = 1; distance < PATH_THREADS; distance *= 2) {
        shared[me] = run;
        __syncthreads();
        const int other = FORWARD ? me - distance : me + distance;
        if (other >= 0 && other < PATH_THREADS) {
            run.rest += run.factor * shared[other].rest;
            run.factor *= shared[other].factor;
        }
        __syncthreads();
    }
    shared[me] = run;
    __syncthreads();
    const int neighbour = FORWARD ? me - 1 : me + 1;
    const real carried = neighbour >= 0 && neighbour < PATH_THREADS ? shared[neighbour].rest : 0;
    __syncthreads();
    return carried;
}

// Tridiagonal systems, one block each: row i of out (2 rank, n) is (P_i + linear_i) T_{w_i}^-1, row rank + i is
// P_i T_0^-1.
extern "C" __global__ void __launch_bounds__(PATH_THREADS)
solve_path(const real* __restrict__ P, const real* __restrict__ linear, const real* __restrict__ inverse,
           const real* __restrict__ coupling, real* __restrict__ out, int n, int rank) {
    __shared__ Affine shared[PATH_THREADS];
    const int row = blockIdx.x % rank;
    const bool shifted = blockIdx.x < rank;
    const real *right = P + (size_t)row * n, *added = linear + (size_t)row * n;
    const real* pivots = inverse + (size_t)(shifted ? row : rank) * n;
    real* x = out + (size_t)blockIdx.x * n;
    const int run = (n + PATH_THREADS - 1) / PATH_THREADS;
    const int start = min((int)threadIdx.x * run, n), end = min(start + run, n);
    Affine whole = {1, 0};
#pragma unroll 4
    for (int t = end - 1; t >= start; --t) {
        const real f = right[t] + (shifted ? added[t] : 0);
        whole.rest = (f + coupling[t] * whole.rest) * pivots[t];
        whole.factor *= coupling[t] * pivots[t];
    }
    real carried = carry_in<false>(whole, shared);
#pragma unroll 4
    for (int t = end - 1; t >= start; --t) {
        const real f = right[t] + (shifted ? added[t] : 0);
        carried = (f + coupling[t] * carried) * pivots[t];
        x[t] = carried;
    }
    whole = {1, 0};
#pragma unroll 4
    for (int t = start; t < end; ++t) {
        const real ratio = t > 0 ? coupling[t - 1] * pivots[t] : 0;
        whole.rest = x[t] + ratio * whole.rest;
        whole.factor *= ratio;
    }
    carried = carry_in<true>(whole, shared);
#pragma unroll 4
    for (int t = start; t < end; ++t) {
        carried = x[t] + (t > 0 ? coupling[t - 1] * pivots[t] : 0) * carried;
        x[t] = carried;
    }
}

// The difference of the two halves of solved (2 rank, n), split into the rows of stack.
extern "C" __global__ void split_difference(const real* __restrict__ solved, real* __restrict__ stack, int n, int rank,
                                            int width) {
    const size_t place = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int t = place / rank, i = place % rank;
    if (t < n) write_split(solved[(size_t)i * n + t] - solved[(size_t)(rank + i) * n + t], stack, t, i, width);
}

// Carry a coarse state over to twice the samples, V and U (n, m); see seqspan/solvers/fast/coarse.py. pair (n,) is the
// coarse step that a step is part of. If `parts` is 2, atoms are samples, too, and share the coefficients of their pair.
extern "C" __global__ void __launch_bounds__(THREADS)
prolong(const real* __restrict__ coarse_V, const real* __restrict__ coarse_U, const real* __restrict__ share,
        const int* __restrict__ before, const int* __restrict__ after, const int* __restrict__ pair,
        real* __restrict__ V, real* __restrict__ U, int m_coarse, int n, int m, int n_atoms, int parts, real t1, real t2,
        real growth_1, real growth_2, int fixed) {
    const int i = blockIdx.x * THREADS + threadIdx.x, start = blockIdx.y * LENGTH;
    if (i >= m) return;
    const int source = parts == 2 && i < n_atoms ? pair[i] : i;
    for (int t = start; t < min(start + LENGTH, n); ++t) {
        real v = 0, u = 0;
        if (i < n_atoms) {
            const int tau = pair[t];
            const real old_v = coarse_V[(size_t)tau * m_coarse + source];
            const real a = clip(old_v, t1), z = fixed && tau == source ? 0 : old_v - a;
            v = z / parts + a / growth_1;
            const real old_u = coarse_U[(size_t)tau * m_coarse + source], b = clip(share[tau] * old_u, t2);
            if (after[t] == 0) {
                u = 0;  // the last step has no successor
            } else if (before[t] % 2 == 1) {
                u = (old_u - b) / parts + 2 * b / growth_2;
            } else {  // Z is constant within a pair, so the multiplier is the mean of those at its ends
                const real earlier = tau > 0 ? coarse_U[(size_t)(tau - 1) * m_coarse + source] : 0;
                u = (b + (tau > 0 ? clip(share[tau - 1] * earlier, t2) : 0)) / growth_2;
            }
        }
        V[(size_t)t * m + i] = v;
        U[(size_t)t * m + i] = u;
    }
}
