import boto3

ENV = {
    "OPTION_MODEL_ID": "Qwen/Qwen3.5-397B-A17B",
    "OPTION_TENSOR_PARALLEL_DEGREE": "8",
    "OPTION_MAX_MODEL_LEN": "262144",
    "OPTION_TRUST_REMOTE_CODE": "true",
}
sm = boto3.client("sagemaker")
sm.create_model(
    ModelName="chat",
    ExecutionRoleArn=ROLE,
    PrimaryContainer={"Image": "vllm:latest", "Environment": ENV},
)
sm.create_endpoint_config(
    EndpointConfigName="chat",
    ProductionVariants=[
        {
            "VariantName": "all",
            "ModelName": "chat",
            "InstanceType": "ml.p5en.48xlarge",
            "InitialInstanceCount": 1,
        }
    ],
)
