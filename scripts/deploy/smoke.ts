/**
 * Asks a deployed service what can be asked without a person. Routes take a moment, and the watch over custody and
 * the vault runs each minute, so it asks again until all answers are right or the time is over. It believes only
 * what that watch has found since the upload.
 */
import * as z from 'zod'

const answerMilliseconds = 20_000
const pauseMilliseconds = 5_000
const triesMax = 60

/** The service as the world sees it, and the means of a run. */
export type SmokeTest = {
  baseUrl: string
  fetch: typeof fetch
  /** Returns what the watch has found wrong since the upload; undefined if nothing is. */
  looks: () => Promise<string | undefined>
  pause: (milliseconds: number) => Promise<void>
  signal: AbortSignal
}

/** A question: its name, and a function that returns what is wrong with the answer. */
type Question = {
  name: string
  path: string
  method?: 'POST'
  /** Returns what is wrong; undefined if nothing is. */
  judge: (answer: Response, baseUrl: string) => Promise<string | undefined>
}

const hasStatus = (status: number) => async (answer: Response) =>
  answer.status === status ? undefined : `answered ${answer.status}, not ${status}`

/** Functions that are called by others alone. */
const internal = ['custody', 'vault', 'mailer', 'mail-reader', 'housekeeping']

const questions: readonly Question[] = [
  { name: 'the sign-up page', path: '/web/join', judge: isPage },
  { name: 'the skill', path: '/skill.md', judge: hasStatus(200) },
  { name: 'the API description', path: '/openapi.json', judge: hasStatus(200) },
  { name: 'an operation without a token', path: '/get-identity', judge: hasStatus(401) },
  { name: 'MCP without a token', path: '/mcp', method: 'POST', judge: hasStatus(401) },
  {
    name: 'the OAuth metadata',
    path: '/.well-known/oauth-authorization-server/oauth',
    judge: isIssuer,
  },
  { name: 'the capabilities', path: '/.well-known/agent-card.json', judge: isLive },
  ...internal.map((folder) => ({
    name: `${folder}, which has no public route`,
    path: `/${folder}`,
    judge: hasStatus(404),
  })),
]

async function isPage(answer: Response): Promise<string | undefined> {
  const isHtml = answer.headers.get('content-type')?.startsWith('text/html') ?? false
  return isHtml ? hasStatus(200)(answer) : `answered ${answer.status} and no page`
}

async function isIssuer(answer: Response, baseUrl: string): Promise<string | undefined> {
  const read = z.object({ issuer: z.string() }).safeParse(await jsonOf(answer))
  if (read.data?.issuer === `${baseUrl}/oauth`) return undefined
  return `answered ${answer.status} with the issuer ${read.data?.issuer ?? 'missing'}`
}

const cardSchema = z.object({
  capabilities: z.object({
    extensions: z.array(
      z.object({
        params: z.object({
          gaps: z.array(
            z.object({ gap_id: z.string(), status: z.string(), reasons: z.array(z.string()) }),
          ),
        }),
      }),
    ),
  }),
})

/** Capabilities that show whether custody and the vault answer: the watch makes a round trip to each. */
const shown = { custody: 'GAP_SIGN_UP_V1', vault: 'GAP_VAULT_V1' } as const

async function isLive(answer: Response): Promise<string | undefined> {
  const read = cardSchema.safeParse(await jsonOf(answer))
  if (!read.success) return `answered ${answer.status} and no capabilities`
  const gaps = read.data.capabilities.extensions.flatMap(({ params }) => params.gaps)
  for (const [part, gap] of Object.entries(shown)) {
    const state = gaps.find(({ gap_id }) => gap_id === gap)
    const reasons = state?.reasons.filter(
      (reason) =>
        reason.startsWith(part) || reason === 'health_not_watched' || reason.startsWith('database'),
    )
    if (!state || reasons?.length !== 0) {
      return `${part} is not live: ${reasons?.join(', ') ?? `${gap} is missing`}`
    }
  }
  return undefined
}

/**
 * Asks everything until all answers are right in one round, because workers of before may give the first ones. Returns
 * a sentence for each answer that is wrong in the end.
 */
export async function smokeTest(test: SmokeTest): Promise<string[]> {
  let failures: string[] = []
  for (let tries = 1; tries <= triesMax; tries += 1) {
    const found = await Promise.all([
      ...questions.map((question) => askQuestion(test, question)),
      askWatch(test),
    ])
    test.signal.throwIfAborted()
    failures = found.flatMap((failure) => failure ?? [])
    if (failures.length === 0) return []
    if (tries < triesMax) await test.pause(pauseMilliseconds)
  }
  return failures
}

/** The documents may tell of looks that workers of before have made. */
async function askWatch({ looks }: SmokeTest): Promise<string | undefined> {
  const wrong = await looks().catch(String)
  return wrong && `the watch over custody and the vault says ${wrong}`
}

async function askQuestion(test: SmokeTest, question: Question): Promise<string | undefined> {
  const { baseUrl, fetch: send, signal } = test
  const { name, path, method = 'GET', judge } = question
  try {
    const answer = await send(`${baseUrl}${path}`, {
      method,
      redirect: 'manual',
      ...(method === 'POST' && { body: '{}', headers: { 'content-type': 'application/json' } }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(answerMilliseconds)]),
    })
    const wrong = await judge(answer, baseUrl)
    return wrong === undefined ? undefined : `${name} (${path}) ${wrong}`
  } catch (error) {
    return `${name} (${path}) cannot be reached: ${error instanceof Error ? error.message : ''}`
  }
}

async function jsonOf(answer: Response): Promise<unknown> {
  return answer.json().catch(() => undefined)
}
