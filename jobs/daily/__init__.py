"""What people run every day: clicks, ads, card payments."""
