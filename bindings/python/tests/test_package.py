# SPDX-License-Identifier: Apache-2.0
"""What the package brings along, and what importing it does."""
import pathlib
import re

import laneway
from conftest import ROOT, run_python
from laneway import _native


def test_importing_it_imports_neither_numpy_nor_torch():
    done = run_python("import laneway, sys; print({'numpy', 'torch', 'pycparser'} & set(sys.modules))")
    assert done.stdout == "set()\n", done.stderr


def test_it_is_typed_and_documented():
    assert (pathlib.Path(laneway.__file__).parent / "py.typed").exists()
    named = [getattr(laneway, name) for name in laneway.__all__]
    own = [one for one in named if getattr(one, "__module__", "").startswith("laneway")]
    assert len(own) > 20 and all(one.__doc__ for one in own)
    assert all(one.__doc__ for one in vars(laneway.Batch).values() if callable(one) and one.__name__[0] != "_")


def test_its_version_is_that_of_the_header():
    header = (ROOT / "include" / "laneway" / "version.h").read_text()
    numbers = (line.split()[2] for line in header.splitlines() if line.startswith("#define LW_VERSION_"))
    assert laneway.__version__ == ".".join(numbers)


def test_the_library_needs_no_other_but_the_systems_own():
    """Loaded without the package: Python's own modules bring libraries of their own."""
    done = run_python("""
import ctypes, sys
def loaded():
    return {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}
before = loaded()
ctypes.CDLL(sys.argv[1])
print("\\n".join(loaded() - before))
""", _native._FILE)
    names = {pathlib.Path(line).name.split(".")[0] for line in done.stdout.splitlines()}
    assert "liblaneway" in names
    assert names <= {"liblaneway", "libc", "libm", "libpthread"}


def test_the_program_in_the_readme_runs():
    program = re.search(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S).group(1)
    done = run_python(program, cwd=ROOT / "examples" / "data")
    assert done.returncode == 0, done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()] == [str(step) for step in range(10)]
