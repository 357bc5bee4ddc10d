"""Settings of the training scripts: one TOML file per algorithm and game."""
