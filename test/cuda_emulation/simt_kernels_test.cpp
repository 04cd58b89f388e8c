// kernels_test.cu as plain C++.
#include "cuda_emulation/kernels_test.cu"  // NOLINT(bugprone-suspicious-include)
