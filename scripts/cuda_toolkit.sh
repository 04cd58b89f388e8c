#!/bin/bash
# cuda_toolkit.sh DEST: makes DEST/cuda a CUDA 13.0 toolkit (nvcc, ptxas, headers, CUB, static runtime) from Python
# wheels, without touching the system. Called by `./strom setup --cuda`; PYTHON names the interpreter whose pip is used.
set -euo pipefail

# Installed without dependencies: those of nvcc's wheel carry no version and would mix toolkits, and a newer toolkit
# makes PTX that drivers of the 13.0 line refuse.
WHEELS=(
  nvidia-cuda-nvcc==13.0.88
  nvidia-nvvm==13.0.88
  nvidia-cuda-crt==13.0.88
  nvidia-cuda-runtime==13.0.96
  nvidia-cuda-cccl==13.0.85
)

dest=$(realpath -m -- "${1:?usage: cuda_toolkit.sh DEST}")
stamp=$dest/cuda.stamp
wheels=$dest/cuda-wheels
toolkit=$wheels/nvidia/cu13
wanted="$dest ${WHEELS[*]}"

if [[ -x $dest/cuda/bin/nvcc && -f $stamp && $(<"$stamp") == "$wanted" ]]; then
  exit 0
fi
echo "strom: installing the CUDA compiler into $dest/cuda"
rm -rf "$wheels" "$stamp"
mkdir -p "$dest"
"${PYTHON:-python3}" -m pip install -q --disable-pip-version-check --no-deps --no-compile --target "$wheels" "${WHEELS[@]}"

# nvcc.profile links from ../lib64, which the wheels call lib.
ln -sfn lib "$toolkit/lib64"
# The wheels hold libcudart.so.13 only; find_package and the linker ask for libcudart.so.
for library in "$toolkit"/lib/lib*.so.*; do
  name=$(basename "$library")
  [[ $name == *.alt.so.* ]] || ln -sf "$name" "$toolkit/lib/${name%%.so.*}.so"
done
ln -sfn "$toolkit" "$dest/cuda"
"$dest/cuda/bin/nvcc" --version >/dev/null
printf '%s\n' "$wanted" >"$stamp"
