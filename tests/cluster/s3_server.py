"""An S3 server that can be switched off: python -m tests.cluster.s3_server HOST PORT BUCKET.

On SIGUSR1 it refuses connections, on SIGUSR2 it accepts them again; its objects remain.
"""

import signal
import sys

import boto3
from moto.server import ThreadedMotoServer

CREDENTIALS = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}
SETTINGS = {**CREDENTIALS, "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true"}


def main(host: str, port: str, bucket: str) -> None:
    server = ThreadedMotoServer(host, int(port), verbose=False)
    signals = {signal.SIGUSR1: server.stop, signal.SIGUSR2: server.start}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)  # also in the server's threads
    server.start()
    boto3.client("s3", endpoint_url=f"http://{host}:{port}").create_bucket(Bucket=bucket)
    print("ready", flush=True)
    while True:
        signals[signal.Signals(signal.sigwait(signals))]()


if __name__ == "__main__":
    main(*sys.argv[1:])
