"""Where a scenario runs: a SkyPilot task, an EC2 launch, and a watch on spot."""

import json
from typing import Any

from calc.evaluate import Row

IMAGE = (
    "/aws/service/deeplearning/ami/{arch}/base-oss-nvidia-driver-gpu-ubuntu-22.04/latest/ami-id"  # AWS Deep Learning AMIs, SSM parameter
)
DISK_GB = 500
POLL_SECONDS = 5  # AWS asks to look every five seconds; the notice comes two minutes ahead
METADATA = "http://169.254.169.254/latest"


def aws_files(row: Row, values: Row, market: str) -> dict[str, str]:
    """sky.yaml and aws.sh of a row, and spot_watch.sh for training on spot."""
    if not row.get("instance"):
        return {}
    spot = market == "spot"
    files = {"sky.yaml": _sky(row, values, spot), "aws.sh": _aws(row, values, spot)}
    return files | ({"spot_watch.sh": _watch()} if spot and row["work"] == "training" else {})


def _sky(row: Row, values: dict[str, Any], spot: bool) -> str:
    trains = row["work"] == "training"
    start = "sky jobs launch sky.yaml, which starts it again where spot is taken back" if spot else "sky launch sky.yaml"
    return "\n".join(
        [
            f"# Start: {start}. Put the bucket's name in the place of your-bucket.",
            "resources:",
            f"  infra: aws/{row['region']}",
            f"  instance_type: {row['instance']}",
            f"  use_spot: {str(spot).lower()}",
            f"  disk_size: {DISK_GB}",
            f"num_nodes: {values['nodes']}",
            "workdir: .",
            *(["file_mounts:", "  ~/sky_workdir/checkpoints:", "    source: s3://your-bucket", "    mode: MOUNT"] if trains else []),
            "run: |",
            "  export NODE_RANK=$SKYPILOT_NODE_RANK",
            '  export MASTER_ADDR=$(echo "$SKYPILOT_NODE_IPS" | head -n1)',
            "  bash launch.sh",
            "",
        ]
    )


def _aws(row: Row, values: dict[str, Any], spot: bool) -> str:
    """Instances in one placement group; AWS reclaims spot with two minutes' notice."""
    options = {"MarketType": "spot", "SpotOptions": {"SpotInstanceType": "one-time", "InstanceInterruptionBehavior": "terminate"}}
    trains = row["work"] == "training"
    market = f" \\\n  --instance-market-options '{json.dumps(options)}'" if spot else ""
    disk = json.dumps([{"DeviceName": "/dev/sda1", "Ebs": {"VolumeSize": DISK_GB, "VolumeType": "gp3"}}])
    image = IMAGE.format(arch=values["arch"])
    lines = [
        "#!/bin/bash",
        "set -euo pipefail",
        "# Starts the instances; then, on each: copy this folder there and run launch.sh with NODE_RANK and MASTER_ADDR set.",
        "# Put the names of your key, security group and instance profile (with access to your bucket) in their places.",
        *(
            ["# On spot run spot_watch.sh beside it: it copies checkpoints to the bucket when AWS gives its notice."]
            if spot and trains
            else []
        ),
        f"IMAGE=$(aws ssm get-parameter --region {row['region']} --name {image} --query Parameter.Value --output text)",
        "aws ec2 run-instances \\",
        f"  --region {row['region']} \\",
        f"  --instance-type {row['instance']} \\",
        f"  --count {values['nodes']} \\",
        '  --image-id "$IMAGE" \\',
        "  --key-name your-key \\",
        "  --security-group-ids your-security-group \\",
        "  --iam-instance-profile Name=your-instance-profile \\",
        "  --metadata-options HttpTokens=required \\",
        f"  --block-device-mappings '{disk}'{market}",
    ]
    return "\n".join([*lines, ""])


def _watch() -> str:
    return f"""#!/bin/bash
# Looks for AWS's notice that this spot instance is taken back (two minutes ahead), then copies the checkpoints to the bucket.
# launch.sh copies them back at the next start. Both take the bucket's name from BUCKET: export BUCKET=your-bucket
set -uo pipefail
: "${{BUCKET:?export BUCKET=your-bucket}}"
while sleep {POLL_SECONDS}; do
  TOKEN=$(curl -s -X PUT {METADATA}/api/token -H "X-aws-ec2-metadata-token-ttl-seconds: 60")
  STATUS=$(curl -s -o /dev/null -w "%{{http_code}}" -H "X-aws-ec2-metadata-token: $TOKEN" {METADATA}/meta-data/spot/instance-action)
  if [ "$STATUS" = 200 ]; then
    aws s3 sync checkpoints "s3://$BUCKET/checkpoints"
    exit 0
  fi
done
"""
