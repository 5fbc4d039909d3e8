"""What was spent: where each release is charged."""
