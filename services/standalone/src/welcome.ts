/** What `npm start` prints once it serves: lines to paste, and pages to open. `keyHeader` is the header of gateway keys. */
export function welcome(gatewayUrl: string, demo: boolean, keyHeader: string | undefined): string {
  // With authentication on, a pasted line also needs a key.
  const gatewayKey = keyHeader === undefined ? '' : ` -H "${keyHeader}: $GATEWAY_KEY"`;
  const key = (name: string) => (demo ? 'sk-demo-000000000000' : `$${name}`);
  return `
Vitrine is running. The AI traffic gateway listens on ${gatewayUrl}
${demo ? 'Demonstration: mock providers respond instead of OpenAI and Anthropic, and bodies are captured. No account is needed.\n' : ''}
1. Point a program at it; the official SDKs read these variables:

   export OPENAI_BASE_URL=${gatewayUrl}/openai/v1
   export ANTHROPIC_BASE_URL=${gatewayUrl}/anthropic

2. Or try it by hand:

   curl ${gatewayUrl}/openai/v1/chat/completions \\
     -H "Authorization: Bearer ${key('OPENAI_API_KEY')}" -H "Content-Type: application/json"${gatewayKey} \\
     -d '{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Say hello"}]}'

   curl -N ${gatewayUrl}/anthropic/v1/messages \\
     -H "x-api-key: ${key('ANTHROPIC_API_KEY')}" -H "anthropic-version: 2023-06-01" -H "Content-Type: application/json"${gatewayKey} \\
     -d '{"model":"claude-sonnet-5","max_tokens":64,"stream":true,"messages":[{"role":"user","content":"Say hello"}]}'

3. See what was recorded:

   curl "${gatewayUrl}/api/traces?limit=5"${gatewayKey}
   curl "${gatewayUrl}/api/traces/<id>"${gatewayKey}
   curl ${gatewayUrl}/api/diagnostics/trace-pipeline${gatewayKey}

Stop it with Ctrl+C.${demo ? '' : ' Without an account, start it with: npm start -- --demo'}
`;
}
