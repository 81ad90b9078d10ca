variable "model" {
  type    = string
  default = "meta-llama/Meta-Llama-3-8B-Instruct"
}

module "endpoint" { # serves a chat
  hf_model_id   = var.model
  instance_type = "ml.g5.2xlarge"
  tgi_config = {
    max_input_tokens = 4000
    max_total_tokens = 4096
  }
}
