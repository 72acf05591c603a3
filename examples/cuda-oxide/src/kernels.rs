//! The kernels, each written as its notation.

mage::einsum_kernel!("ik,kj->ij", tile = 128, name = matmul_128);
mage::einsum_kernel!("ik,kj->ij", tile = (64, 128, 16), name = matmul_64x128);
mage::einsum_kernel!("ik,kj->ij", tile = (128, 64, 16), name = matmul_128x64);
mage::einsum_kernel!("ik,kj->ij", tile = 64, name = matmul_64);
mage::einsum_kernel!("ik,kj->ij", tile = (128, 32, 16), name = matmul_128x32);
mage::einsum_kernel!("ik,kj->ij", tile = (16, 128, 16), name = matmul_16x128);
mage::einsum_kernel!("ik,kj->ij", name = matmul);
mage::einsum_kernel!("ik,jk->ij", tile = 128, name = matmul_nt);
mage::einsum_kernel!("ki,kj->ij", tile = 128, name = matmul_tn);
mage::einsum_kernel!("ki,jk->ij", tile = 128, name = matmul_tt);
mage::einsum_kernel!("ik,kj->ji", tile = (64, 32, 16), name = matmul_to_transposed);
mage::einsum_kernel!("ik,kj->ij", tile = (48, 20, 6), name = matmul_odd_tile);
mage::einsum_kernel!("ik,kj->ij", tile = 64, extents = (j = 64, k = 48), name = matmul_fixed);
mage::einsum_kernel!("bik,bkj->bij", tile = 64, name = batched);
mage::einsum_kernel!("bik,bkj->bij", name = batched_family);
mage::einsum_kernel!("bhqd,bhkd->bhqk", tile = 64, name = attention_scores);
mage::einsum_kernel!("bhqd,bhkd->bhqk", name = attention_scores_family);
mage::einsum_kernel!("abcd,cdef->abef", name = four_modes);
mage::einsum_kernel!("ikc,jkc->ijc", tile = 32, name = triangle_outgoing);
mage::einsum_kernel!("ikc,jkc->ijc", tile = 64, name = triangle_outgoing_64);
mage::einsum_kernel!("ikc,jkc->ijc", name = triangle);
mage::einsum_kernel!("kic,kjc->ijc", tile = 32, name = triangle_incoming);
mage::einsum_kernel!("ixky,jkx->ijy", tile = 16, name = two_contracted_apart);
mage::einsum_kernel!("aibk,kjc->ajibc", tile = 16, name = many_free);
mage::einsum_kernel!("i,j->ij", tile = 64, name = outer_product);
mage::einsum_kernel!("iik,kj->ij", tile = 16, name = diagonal_factor);
mage::einsum_kernel!("ik,k->i", name = matrix_vector);
mage::einsum_kernel!("k,kj->j", name = vector_matrix);
mage::einsum_kernel!("i,i->", name = dot);
mage::einsum_kernel!("ij->ji", name = transpose);
mage::einsum_kernel!("ijk->kij", name = transpose_three);
mage::einsum_kernel!("ii->", name = trace);
mage::einsum_kernel!("ij->i", name = row_sums);
mage::einsum_kernel!("ij->j", name = column_sums);
mage::einsum_kernel!("bij,bj->bi", name = batched_matrix_vector);
mage::einsum_kernel!("Y[b,i] = sum(j) X[b,i,j] + C[i,b]", name = row_sums_beside);
mage::einsum_kernel!("Y[j,i] = -X[i,j]", name = transpose_negated);
mage::einsum_kernel!("ij,jk,kl->il", tile = 64, name = chain);
mage::einsum_kernel!("ijk,jl->il", name = reduced_first);
mage::einsum_kernel!("ij,ji->ij", name = hadamard_transposed);
mage::einsum_kernel!("ik,kj->ij", dtype = f64, name = matmul_f64);
mage::einsum_kernel!("ik,kj->ij", dtype = f16, tile = 64, name = matmul_f16);
mage::einsum_kernel!("ik,kj->ij", dtype = bf16, tile = 128, name = matmul_bf16);
mage::einsum_kernel!("ik,jk->ij", dtype = bf16, tile = 128, name = matmul_bf16_nt);
mage::einsum_kernel!("ki,kj->ij", dtype = bf16, tile = 128, name = matmul_bf16_tn);
mage::einsum_kernel!("ki,jk->ij", dtype = bf16, tile = 128, name = matmul_bf16_tt);
mage::einsum_kernel!("ik,kj->ij", dtype = f16, tile = 128, name = matmul_f16_128);
mage::einsum_kernel!("ik,kj->ij", dtype = bf16, name = matmul_bf16_family);
mage::einsum_kernel!("ik,kj->ij", precision = tf32, tile = 128, name = matmul_tf32);
mage::einsum_kernel!("ik,jk->ij", precision = tf32, tile = 128, name = matmul_tf32_nt);
mage::einsum_kernel!("ki,kj->ij", precision = tf32, tile = 128, name = matmul_tf32_tn);
mage::einsum_kernel!("ki,jk->ij", precision = tf32, tile = 128, name = matmul_tf32_tt);
mage::einsum_kernel!("ik,kj->ij", precision = tf32, tile = 64, name = matmul_tf32_64);
mage::einsum_kernel!("bhqd,bhkd->bhqk", dtype = bf16, tile = 64, name = attention_scores_bf16);
mage::einsum_kernel!("ik,kj->ij", dtype = bf16, out = f32, tile = 64, name = matmul_bf16_to_f32);
mage::einsum_kernel!(
    "ik,kj->ij",
    dtype = bf16,
    out = f32,
    tile = 128,
    name = matmul_bf16_to_f32_128
);
mage::einsum_kernel!("ik,kj->ij", accumulate = true, tile = 64, name = matmul_added);
mage::einsum_kernel!(
    "ikc,jkc->ijc",
    dtype = bf16,
    accumulate = true,
    tile = 16,
    name = triangle_bf16_added
);
mage::einsum_kernel!("ij->i", dtype = f16, name = row_sums_f16);
mage::einsum_kernel!("ij->j", dtype = f64, accumulate = true, name = column_sums_f64_added);
mage::einsum_kernel!("ij->ji", dtype = f16, name = transpose_f16);
mage::einsum_kernel!("i,i->", dtype = bf16, out = f32, accumulate = true, name = dot_bf16_added);
mage::einsum_kernel!("ik,kj->ij", tile = 64, strides = runtime, name = strided_matmul);
mage::einsum_kernel!("ikc,jkc->ijc", tile = 32, strides = runtime, name = strided_triangle);
mage::einsum_kernel!("iik,kj->ij", tile = 32, strides = runtime, name = strided_diagonal);
mage::einsum_kernel!("ijk->kij", strides = runtime, name = strided_transpose);
mage::einsum_kernel!("ijk,jk->i", strides = runtime, name = strided_row_sums);
mage::einsum_kernel!("Dot[] = sum(Row, x__y) a__b[Row, x__y] * B[Row, x__y]", name = unusual_names);
mage::einsum_kernel!("Y[i,j] = gelu_tanh(X[i,j] + b[j])", name = bias_gelu);
mage::einsum_kernel!(
    "m[i] = mean(j) X[i,j]; \
     v[i] = mean(j) (X[i,j] - m[i])^2; \
     Y[i,j] = (X[i,j] - m[i]) * rsqrt(v[i] + 1e-5) * g[j] + b[j]",
    name = layer_norm
);
mage::einsum_kernel!(
    "m[i] = mean(j) X[i,j]; \
     v[i] = mean(j) (X[i,j] - m[i])^2; \
     r[i] = rsqrt(v[i] + 1e-5); \
     Y[i,j] = (X[i,j] - m[i]) * r[i] * g[j] + b[j]",
    outputs = (Y, m, r),
    name = layer_norm_stats
);
mage::einsum_kernel!(
    "m[i] = mean(j) X[i,j]; \
     v[i] = mean(j) (X[i,j] - m[i])^2; \
     r[i] = rsqrt(v[i] + 1e-5); \
     Y[i,j] = (X[i,j] - m[i]) * r[i] * g[j] + b[j]",
    outputs = (Y, m, r),
    dtype = f16,
    name = layer_norm_stats_f16
);
mage::einsum_kernel!(
    "m[i] = max(j) X[i,j]; \
     e[i,j] = exp(X[i,j] - m[i]); \
     s[i] = sum(j) e[i,j]; \
     Y[i,j] = e[i,j] / s[i]",
    outputs = (Y, e, m, s),
    name = softmax_parts
);
mage::einsum_kernel!(
    "R[i,j] = X[i,j] + Z[i,j]; Y[i,j] = gelu_tanh(R[i,j] * g[j])",
    outputs = (R, Y),
    name = residual_gelu
);
mage::einsum_kernel!(
    "C[i,j] = sum(k) A[i,k] * B[k,j]; s[i] = sum(j) C[i,j]",
    outputs = (C, s),
    name = product_row_sums
);
mage::einsum_kernel!(
    "m[i] = max(j) X[i,j]; \
     e[i,j] = exp(X[i,j] - m[i]); \
     s[i] = sum(j) e[i,j]; \
     Y[i,j] = e[i,j] / s[i]",
    name = softmax
);
mage::einsum_kernel!(
    "r[i] = mean(j) X[i,j]^2; Y[i,j] = X[i,j] * rsqrt(r[i] + 1e-6) * g[j]",
    name = rms_norm
);
mage::einsum_kernel!("Y[i,j] = gelu_tanh(sum(k) X[i,k] * W[k,j] + b[j])", name = mlp);
mage::einsum_kernel!(
    "Y[i,j] = gelu_tanh(sum(k) X[i,k] * W[k,j] + b[j])",
    tile = 128,
    name = mlp_128
);
mage::einsum_kernel!("Y[i,f] = sum(e in p[i]..p[i+1]) w[e] * X[s[e],f]", name = neighbours);
