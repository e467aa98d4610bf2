"""Resilient operator distribution (Xing's dissertation on load distribution in Borealis, chapters 3 and 4).

Loads are linear in the rates of a few sources. A placement is good when it stays below everyone's capacity for as many
combinations of rates as possible, not when it balances the rates of today.
"""
