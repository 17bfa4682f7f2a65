#!/bin/sh
# Pack Ray and what a sweep imports, for a machine with Python, torch and numpy alone:
#   sh bench/gpu_archive.sh [VERSION OF ITS PYTHON, 3.12]
# There: mkdir packages && tar -xJf build/gpu_session.tar.xz -C packages
#   PYTHONPATH=.:packages python3 -m bench.gpu_session
set -e
folder=build/gpu_packages
packages="ray filelock tqdm psutil requests certifi charset-normalizer idna urllib3 jsonschema
jsonschema-specifications referencing rpds-py attrs typing-extensions typing-inspection pydantic
pydantic_core annotated-types click msgpack packaging protobuf PyYAML fsspec pandas
python-dateutil six pyarrow tensorboardX joblib
cloudpickle"
# shellcheck disable=SC2086  # a word for each package
wanted=$(grep -iE "^($(printf '%s|' $packages | tr '_-' '..')-)==" requirements.lock)
rm -rf "$folder"
# shellcheck disable=SC2086  # one argument for each line
python -m pip install --quiet --no-deps --target "$folder" --python-version "${1:-3.12}" \
    --only-binary=:all: $wanted
# what a sweep does not need
(
    cd "$folder"
    rm -rf ray/jars ray/rllib ray/serve ray/llm ray/cpp ray/dashboard/client bin
    rm -rf pyarrow/include pyarrow/src pyarrow/*flight*
    find . -name tests -prune -exec rm -r {} +
    find . -name '*.py[xi]' -delete
)
tar -C "$folder" --exclude=__pycache__ --exclude=RECORD --exclude=licenses -c . |
    xz -T0 -5 >build/gpu_session.tar.xz
du -h build/gpu_session.tar.xz
