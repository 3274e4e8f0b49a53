# SPDX-License-Identifier: Apache-2.0
# The module is made at build time from the public headers; cffi's objects have no static types.
from typing import Any

ffi: Any
