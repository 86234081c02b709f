/** Tools and a prompt of the conformance suite that ask their client for input, in rounds. */
import type {
  CallToolResult,
  InputRequests,
  InputRequiredResult,
  McpServer,
  ServerContext,
} from '@modelcontextprotocol/server'
import { acceptedContent, inputRequired, ProtocolError } from '@modelcontextprotocol/server'
import * as z from 'zod'

/** Signs the state of a round, as the product signs its own. */
export type Mint = (payload: unknown, context: ServerContext) => Promise<string>

type Answered = CallToolResult | InputRequiredResult
type Round = (context: ServerContext, mint: Mint) => Promise<Answered> | Answered

const asked = (field: string) =>
  inputRequired.elicit({
    message: `What is the ${field}?`,
    requestedSchema: {
      type: 'object',
      properties: { [field]: { type: 'string' } },
      required: [field],
    },
  })
const confirm = inputRequired.elicit({
  message: 'Is it so?',
  requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] },
})
const completion = inputRequired.createMessage({
  messages: [{ role: 'user', content: { type: 'text', text: 'Say something' } }],
  maxTokens: 50,
})
const said = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] })

const named = z.object({ name: z.string() })
const confirmed = z.object({ ok: z.boolean() })
const capabilities = z.object({
  'io.modelcontextprotocol/clientCapabilities': z.record(z.string(), z.unknown()),
})

const rounds: Record<string, Round> = {
  test_input_required_result_elicitation: ({ mcpReq }) => {
    const name = acceptedContent(mcpReq.inputResponses, 'user_name', named)?.name
    if (name === undefined) return inputRequired({ inputRequests: { user_name: asked('name') } })
    return said(`Hello, ${name}!`)
  },
  test_input_required_result_sampling: ({ mcpReq }) => {
    const answer = mcpReq.inputResponses?.['capital_question']
    if (answer) return said(`Sampling response: ${JSON.stringify(answer)}`)
    return inputRequired({ inputRequests: { capital_question: completion } })
  },
  test_input_required_result_list_roots: ({ mcpReq }) => {
    const answer = mcpReq.inputResponses?.['client_roots']
    if (answer) return said(`Client roots: ${JSON.stringify(answer)}`)
    return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } })
  },
  test_input_required_result_request_state: async (context, mint) => {
    const { mcpReq } = context
    if (acceptedContent(mcpReq.inputResponses, 'confirm', confirmed)) {
      if (mcpReq.requestState() === undefined) throw new ProtocolError(-32602, 'No requestState')
      return said('state-ok')
    }
    return inputRequired({
      inputRequests: { confirm },
      requestState: await mint({ round: 1 }, context),
    })
  },
  test_input_required_result_tampered_state: async (context, mint) => {
    if (context.mcpReq.requestState() !== undefined) return said('integrity-ok')
    return inputRequired({
      inputRequests: { confirm },
      requestState: await mint({ round: 1 }, context),
    })
  },
  test_input_required_result_multiple_inputs: async (context, mint) => {
    const given = Object.keys(context.mcpReq.inputResponses ?? {})
    if (['user_name', 'greeting', 'client_roots'].every((key) => given.includes(key))) {
      return said('All inputs were given.')
    }
    return inputRequired({
      inputRequests: {
        user_name: asked('name'),
        greeting: completion,
        client_roots: inputRequired.listRoots(),
      },
      requestState: await mint({ round: 1 }, context),
    })
  },
  test_input_required_result_multi_round: async (context, mint) => {
    const state = z.object({ round: z.int() }).safeParse(context.mcpReq.requestState())
    const round = state.data?.round ?? 0
    if (round === 2) return said('Multi-round complete.')
    const step = `step${round + 1}`
    return inputRequired({
      inputRequests: { [step]: asked(round === 0 ? 'name' : 'color') },
      requestState: await mint({ round: round + 1 }, context),
    })
  },
  test_input_required_result_capabilities: ({ mcpReq }) => {
    if (mcpReq.inputResponses) return said('Fulfilled.')
    const declared = capabilities.safeParse(mcpReq.envelope).data
    const can = Object.keys(declared?.['io.modelcontextprotocol/clientCapabilities'] ?? {})
    const inputRequests: InputRequests = {
      ...(can.includes('elicitation') ? { user_name: asked('name') } : {}),
      ...(can.includes('sampling') ? { greeting: completion } : {}),
      ...(can.includes('roots') ? { client_roots: inputRequired.listRoots() } : {}),
    }
    return Object.keys(inputRequests).length > 0 ? inputRequired({ inputRequests }) : said('None.')
  },
  test_missing_capability: ({ mcpReq }) => {
    if (mcpReq.inputResponses) return said('Sampled.')
    return inputRequired({ inputRequests: { llm_answer: completion } })
  },
}

/** Registers the tools and the prompt, with the product's own signature over the state. */
export function addRounds(server: McpServer, mint: Mint): void {
  for (const [name, round] of Object.entries(rounds)) {
    server.registerTool(
      name,
      { description: name, inputSchema: z.object({}) },
      async (_args, context) => round(context, mint),
    )
  }
  const description = 'Asks for the context first'
  server.registerPrompt('test_input_required_result_prompt', { description }, ({ mcpReq }) => {
    if (!mcpReq.inputResponses) {
      return inputRequired({ inputRequests: { user_context: asked('context') } })
    }
    const words = JSON.stringify(mcpReq.inputResponses)
    return { messages: [{ role: 'user', content: { type: 'text', text: words } }] }
  })
}
