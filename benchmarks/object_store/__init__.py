"""An object store on loopback for measurements: a server of S3's interface behind a slow link, and s3a for Spark."""
