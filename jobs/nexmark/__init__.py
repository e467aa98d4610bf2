"""NEXMark (Tucker, Tufte, Papadimos, Maier 2002), with the queries as Apache Beam and Flink run them today."""
