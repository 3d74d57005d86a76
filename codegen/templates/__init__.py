"""Text of drivers that are copied into emitted modules; read as text, never imported."""
