from sagemaker.jumpstart.model import JumpStartModel
m = JumpStartModel(model_id="meta-textgeneration-llama-3-1-8b-instruct", instance_type="ml.g5.12xlarge")
p = m.deploy(accept_eula=True)
