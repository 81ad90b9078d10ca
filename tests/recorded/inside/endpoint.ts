import { HuggingFaceLlm, HuggingFaceLlmProps } from 'llm-constructs';

const MODEL = 'NousResearch/Llama-2-7b-chat-hf'; // as published
const props: HuggingFaceLlmProps = {
  instanceType: 'ml.g5.2xlarge',
  environmentVariables: { HF_MODEL_ID: MODEL, SM_NUM_GPUS: '1', MAX_TOTAL_TOKENS: '4096' },
};

new HuggingFaceLlm(stack, 'Chat', props);
