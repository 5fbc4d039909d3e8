"""What is asked of each person, and so what one person may contribute."""
