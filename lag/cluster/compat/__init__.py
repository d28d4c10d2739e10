"""Private parts of kafka-python that groupscope depends on. Nothing outside this package touches a private name.

Checked against kafka-python 3.0.12, the version that pyproject.toml pins; check again before the pin moves. Each module
lists the names that it uses, and what kafka-python would have to offer instead.
"""
