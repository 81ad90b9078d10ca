"""The glossary: every column that goes in or comes out, once. A quantity has a label, a unit, a meaning and a display
format."""

from dataclasses import dataclass

GIB = 2**30
COMPONENTS = (
    "weights_bytes", "gradients_bytes", "optimizer_bytes", "activations_bytes", "logits_bytes", "kv_cache_bytes",
    "working_bytes", "overhead_bytes",
)


FORMATS = {"B": "bytes", "USD": "usd", "USD/h": "usd", "h": "hours", "s": "seconds", "text": "text", "": "count"}


@dataclass(frozen=True)
class Quantity:
    """One column: its label on the screen, its unit (empty for words and counts), what it means, and how it is
    printed."""

    name: str
    label: str
    unit: str
    meaning: str

    @property
    def format(self):
        """bytes, usd, hours, count or text: how the column is printed."""
        return FORMATS.get(self.unit, "number")


_TEXT = """
scenario | Scenario | text | The row's name
work | Work | text | training or inference
model | Model | text | Id of a model of the catalog, or of an added config
precision | Precision | text | How numbers are stored
tuning | Tuning | text | full (all weights) or lora (adapters beside frozen weights)
lora_rank | LoRA rank | | Inner width of each adapter
lora_targets | LoRA targets | text | Matrices that get an adapter
adapter_precision | Adapter format | text | Number format of the adapters
optimizer | Optimizer | text | What updates the weights
optimizer_kernel | Optimizer kernel | text | fused, foreach or loop: how the step runs
gradient_precision | Gradient format | text | Format of kept gradients where wider than the weights
recompute | Recompute | text | What is computed again in the backward pass (gradient checkpointing)
attention | Attention | text | flash or eager
loss | Loss | text | full, kernel or fused
implementation | Software | text | What trains or serves
compile | Compiled | text | torch.compile of the blocks
reduce_precision | Reduction format | text | Format of sharded gradient reduction
tie_embeddings | Tied embeddings | text | Whether embedding and head share a matrix
batch | Micro-batch | | Sequences at once on one model replica
sequence_tokens | Sequence | tokens | Tokens per sequence; in inference all that the cache holds
decoder_tokens | Decoder length | tokens | The decoder's tokens of an encoder-decoder
logits | Logits | text | Of the last token, or of the whole prompt
prompt_tokens | Prompt | tokens | Tokens prefilled at once per sequence
accumulation_steps | Accumulation steps | | Micro-batches per optimizer step
gpus | GPUs | | All GPUs of the job
sharding | Sharding | text | What data-parallel GPUs divide
tensor_parallel | Tensor parallel | | GPUs that share each matrix
pipeline_parallel | Pipeline stages | | GPUs in a row, each with a part of the blocks
context_parallel | Context parallel | | GPUs that share each sequence
expert_parallel | Expert parallel | | GPUs that share the experts
offload | Offload | text | What is kept in CPU memory
kv_precision | KV cache format | text | Number format of keys and values
max_sequences | Engine's sequences | | vLLM's max_num_seqs
max_batched_tokens | Engine's batched tokens | tokens | vLLM's max_num_batched_tokens
gpu | Card | text | Id of a card
instance | Instance | text | AWS instance type
region | Region | text | AWS region
train_tokens | Training tokens | tokens | Tokens of the whole run
hours_per_month | Hours per month | h | Hours that the scenario is up in a month
parameters | Parameters | | Parameters of the whole model
active_parameters | Active parameters | | Parameters that one token passes through
trained_parameters | Trained parameters | | Parameters that the optimizer updates
weights_bytes | Weights | B | Parameters as stored on the GPU
gradients_bytes | Gradients | B | Gradients alive at the peak
optimizer_bytes | Optimizer state | B | Moments, and the fp32 master copy
activations_bytes | Activations | B | Saved for the backward pass, or the working set of a forward pass
logits_bytes | Logits | B | Logits and the temporaries of the loss
kv_cache_bytes | KV cache | B | Keys and values of cached tokens
working_bytes | Working memory | B | Copies, gathered shards, step temporaries and buffers at the peak
overhead_bytes | Overhead | B | CUDA context, library workspaces, allocator slack
allocated_peak_bytes | Allocated peak | B | What torch.cuda.max_memory_allocated shows
saved_activations_bytes | Saved activations | B | What waits for the backward pass, logits apart
memory_bytes | Memory | B | What nvidia-smi shows on a roomy card
memory_low_bytes | Memory, low | B | Lower end of the stated range
memory_high_bytes | Memory, high | B | Upper end of the stated range
context_bytes | CUDA context | B | Held by the driver and its libraries whatever runs
peak_phase | Peak | text | The moment of the peak
gpu_memory_bytes | Card memory | B | Usable memory of the card as its driver reports it
headroom_bytes | Headroom | B | Card memory less memory
fits | Fits | text | yes, tight (lives once cached memory is given back), or no
max_batch | Largest batch | | The largest that fits or is tight, all else equal
max_sequence_tokens | Longest sequence | tokens | The longest that fits or is tight, all else equal
host_memory_needed_bytes | CPU memory needed | B | CPU memory that offloading takes on one instance
instances_needed | Instances | | Whole instances that hold the GPUs
gpus_paid | GPUs paid | | GPUs in those instances
idle_gpus | Idle GPUs | | GPUs paid and not used
vcpus_needed | vCPUs of quota | | What AWS counts against the account's quota
spans_instances | Works over instances | | 1 where GPUs of different instances work on one thing
usd_per_hour_on_demand | USD per hour, on demand | USD/h | The whole job
usd_per_hour_spot | USD per hour, spot | USD/h | The whole job, median over zones
run_hours | Run | h | Hours of the whole training run
run_usd_on_demand | Run on demand | USD | Cost of the whole run
run_usd_spot | Run on spot | USD | Cost of the whole run with its expected interruptions
usd_per_month_on_demand | USD per month, on demand | USD | At the hours per month
usd_per_month_spot | USD per month, spot | USD | At the hours per month
prices_as_of | Prices as of | text | The older of the dates of the prices used
tokens_per_second | Tokens per second | tokens/s | Trained, or generated, by the whole job
step_seconds | Step | s | One optimizer step
time_to_first_token_seconds | Time to first token | s | Prefill of the prompt
time_per_output_token_seconds | Time per token | s | One decoding step
offloaded_bytes | Left in CPU memory | B | What one GPU leaves in CPU memory
step_low_seconds | Step, fast end | s | One optimizer step, fast end of the range
step_high_seconds | Step, slow end | s | One optimizer step, slow end of the range
low_tokens_per_second | Tokens per second, low | tokens/s | The slow end of the range
high_tokens_per_second | Tokens per second, high | tokens/s | The fast end of the range
tokens_per_second_per_gpu | Tokens per second and GPU | tokens/s | Trained, or generated, by one GPU
time_to_first_token_low_seconds | First token, fast end | s | Prefill of the prompt, fast end of the range
time_to_first_token_high_seconds | First token, slow end | s | Prefill of the prompt, slow end of the range
time_per_output_token_low_seconds | Time per token, fast end | s | One decoding step, fast end of the range
time_per_output_token_high_seconds | Time per token, slow end | s | One decoding step, slow end of the range
prefill_tokens_per_second | Prefill rate | tokens/s | Prompt tokens per second of the whole job
decode_tokens_per_second | Decode rate | tokens/s | Generated tokens per second of the whole job
utilization | Utilization, set | ratio | Share of the card's dense rate that the scenario asks for instead of the calibrated one
utilization_ratio | Utilization | ratio | Share of the card's dense rate reached while computing
mfu_ratio | Model FLOPs utilization | ratio | Share of the dense rate in a training step, recompute not credited
usd_per_gpu_hour_on_demand | USD per GPU-hour, on demand | USD/h | One whole GPU for an hour
usd_per_gpu_hour_spot | USD per GPU-hour, spot | USD/h | One whole GPU for an hour
usd_per_gib_hour_on_demand | USD per GiB-hour, on demand | USD/h | One GiB of GPU memory for an hour
usd_per_gib_hour_spot | USD per GiB-hour, spot | USD/h | One GiB of GPU memory for an hour
usd_per_pflop_hour_on_demand | USD per PFLOP-hour, on demand | USD/h | A dense bf16 PFLOP per second for an hour
usd_per_pflop_hour_spot | USD per PFLOP-hour, spot | USD/h | A dense bf16 PFLOP per second for an hour
run_low_hours | Run, fast end | h | Hours of the whole run, fast end of the range
run_high_hours | Run, slow end | h | Hours of the whole run, slow end of the range
usd_per_million_input_tokens | USD per million input tokens | USD | Prompt tokens, on demand
usd_per_million_output_tokens | USD per million output tokens | USD | Generated tokens, on demand
usd_per_million_trained_tokens | USD per million trained tokens | USD | On demand
load_deployments | Deployments for the load | | Copies of this deployment that serve the wanted load
load_instances | Instances for the load | | Instances that serve the wanted load
load_usd_per_month_on_demand | USD per month for the load | USD | The wanted load, on demand
interruption_ratio | Interrupted in a month | ratio | Share of spot instances that AWS takes back in a month
mean_uninterrupted_seconds | Mean time between interruptions | s | Of the whole job on spot
checkpoint_bytes | Checkpoint | B | Trained weights, master copy and optimizer state over all GPUs
checkpoint_seconds | Writing a checkpoint | s | While training waits
young_interval_seconds | Checkpoint interval, Young | s | First-order best interval
checkpoint_interval_seconds | Checkpoint interval, Daly | s | Best interval between checkpoints
spot_overhead_ratio | Lost to interruptions | ratio | Checkpoints, lost work and restarts as a share of the run
spot_run_hours | Run on spot | h | Hours of the run with its interruptions
restart_hours | Restarts | h | Of a run on spot: starting again after interruptions
checkpoint_hours | Writing checkpoints | h | Of a run on spot: while training waits for them
lost_work_hours | Lost work | h | Of a run on spot: trained again after interruptions
expected_interruptions | Interruptions expected | | In the whole run on spot
spot_saving_ratio | Spot saves | ratio | Against on demand for the same work, after interruptions
on_demand_as_of | On-demand price of | text | Date of the price
on_demand_basis | On-demand price is | text | published, derived (family ratio) or assumed
spot_as_of | Spot price of | text | Date of the price
spot_basis | Spot price is | text | observed (median over zones) or estimated
interruption_band | Interruption band | text | AWS Spot Advisor: share of instances interrupted in a month
model_kind | Kind of model | text | decoder, encoder, encoder-decoder, vision, audio or dual
has_source | Has a source side | | 1 for an encoder-decoder
precision_format | Format of activations | | 0 bf16, 1 fp32, 2 autocast: the columns of the block coefficients
adapter_bytes_each | Adapter width | B | Bytes per adapter parameter
gradient_override_bytes_each | Gradient width asked for | B | 0 where gradients are as wide as their weights
reduce_bytes_each | Reduction width | B | Bytes per element of a sharded gradient reduction
kv_bytes_each | Cache width | B | Bytes per cached element
logits_forward_bytes_each | Bytes per logit, forward | B | As computed, upcast, log-softmax
logits_backward_bytes_each | Bytes per logit, backward | B | Log-softmax and two gradients
head_elements_here | Head's matrix | | Elements on one GPU
holds_embedding | Holds the embedding | | 1 on the first pipeline stage
holds_head | Holds the head | | 1 on the last pipeline stage
microbatches_in_flight | Micro-batches in flight | | That wait for their backward pass on this pipeline stage
longest_sequence_tokens | Learned positions | tokens | Tokens of one sequence at most; unbounded where positions are computed
outside_saved_bytes | Saved outside the blocks | B | Final norm, labels, positions, shared mask
offloads_optimizer | Optimizer in CPU memory | | 1 where offloaded
offloads_activations | Activations in CPU memory | | 1 where offloaded
offloads_weights | Weights in CPU memory | | 1 where offloaded
stack_adapter_parameters | Adapters of a block | | LoRA parameters of one block
stack_kept_bytes_per_token | Kept per token | B | What one block keeps for the backward pass under the chosen recompute
stack_forward_bytes_per_token | Forward per token | B | Working set of one block without gradients
stack_largest_linear | Largest matrix | | Elements of the largest linear layer of a block
asks_ties | Asked to tie | | 1 to tie embedding and head, 0 not to; empty as the model does
names_sequence | Names a length | | 1 where the scenario says how long a sequence is
at_last_stage | At the last stage | | 1 on the last GPU of a pipeline, 0 on the first
model_row | Place of the model | | Its place in the catalog
head_row | Place of the head | | Its kind's place in the table of heads
block_coefficients | Coefficients of blocks | | Bytes per token for each size, by kind of block, number format and attention
head_coefficients | Coefficients of heads | | Bytes per token for each size outside the blocks, by kind of head and number format
is_causal | Looks back only | | 1 where a token attends to earlier ones only
computes_all_scores | Computes all scores | | 1 for eager attention
logits_of_all | Logits of the whole prompt | | 1 where logits is all
compiles | Compiled blocks | | 1 where compile is yes
computes_bf16 | Computes in bf16 | | 1 where the products are bf16
problem | Problem | text | What is wrong with this row and what to change
"""


def _read(text):
    for line in text.strip().splitlines():
        name, label, unit, meaning = (part.strip() for part in line.split("|"))
        yield name, Quantity(name, label, unit, meaning)


GLOSSARY = dict(_read(_TEXT))  # the assumptions of time and cost have their words in catalogs/assumptions.yaml
