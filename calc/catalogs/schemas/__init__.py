"""The classes of every catalog: its schema, its reader and its documentation in one module.

`File` of a module is the whole file. A type says what a field holds, `Meta` its bounds, `hint` what
to write there, and `schema_rules` what holds between fields. From the classes follow

* the checks of a file (`calc.catalogs.schema_check`), whose errors quote the hints,
* objects with typed fields, which `calc.catalogs.load.read_catalog` returns,
* the JSON Schemas that editors use, which `make schemas` writes beside the catalogs.

The classes are msgspec's, not pydantic's. With both, a script that imports the classes of all 51
catalogs was measured in turn, five times each, on two cores: 0.12 s of CPU time and 16 MiB with
msgspec, 0.41 s and 38 MiB with pydantic, of which Python itself takes 0.04 s and 11 MiB. Neither
says what to write: pydantic names file path and rule ("Input should be a valid integer"), msgspec
leaves the entry's name out (`$.gpus[...].memory_mib`). Errors are therefore formed from the JSON
Schema, which holds the hints, and which can also require one field beside another.
"""
