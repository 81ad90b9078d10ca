from sagemaker.jumpstart.estimator import JumpStartEstimator

model_id, model_version = "meta-textgeneration-llama-3-2-3b", "1.*"
estimator = JumpStartEstimator(model_id=model_id, instance_type="ml.g5.12xlarge")
estimator.set_hyperparameters(instruction_tuned="True", epoch="3", max_input_length="1024")
estimator.fit({"training": "s3://example/train"})
