from sagemaker.huggingface import HuggingFaceModel, get_huggingface_llm_image_uri
import json
hub = {"HF_MODEL_ID": "mistralai/Mistral-7B-Instruct-v0.2", "SM_NUM_GPUS": json.dumps(1), "MAX_INPUT_LENGTH": json.dumps(4096), "MAX_TOTAL_TOKENS": json.dumps(8192), "MAX_BATCH_PREFILL_TOKENS": json.dumps(8192)}
model = HuggingFaceModel(image_uri=get_huggingface_llm_image_uri("huggingface", version="2.0.2"), env=hub, role=role)
predictor = model.deploy(initial_instance_count=2, instance_type="ml.g5.2xlarge", container_startup_health_check_timeout=300)
