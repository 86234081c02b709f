/** Commands that let this computer into an account and out of it. */
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { readBaseUrl } from '../client/call.ts'
import { type Call, type Command, textOption, UsageError } from './command.ts'
import { askForCode, pollForTokens, registerProgram, revoke, tokensIn } from './oauth.ts'
import { facts } from './screen.ts'
import { forgetSession, keepSession, readSession } from './session.ts'

const scopes = ['read', 'vault', 'pay', 'full']

const login: Command = {
  usage: '<url>',
  summary: 'let this computer into an account, by a code that you enter in any browser',
  options: { scope: { type: 'string', default: 'pay' } },
  help: '--scope   what to ask for: read, vault, pay (with both) or full; the owner may allow less',
  examples: ['aoa login https://account.example', 'aoa login https://account.example --scope read'],
  async run(call) {
    const { words, env, fetch, screen, now } = call
    const given = words[0] ?? env['AOA_BASE_URL'] ?? readSession(env)?.base_url
    if (given === undefined) throw new UsageError('the address of the service is missing')
    const scope = textOption(call, 'scope') ?? 'pay'
    if (!scopes.includes(scope)) throw new UsageError(`--scope is one of ${scopes.join(', ')}`)
    const service = { baseUrl: readBaseUrl(given), fetch }
    const known = readSession(env)
    const isKnown = known?.base_url === service.baseUrl
    const client = isKnown
      ? known.client_id
      : await registerProgram(service, `aoa on ${hostname()}`)
    const waiting = await askForCode(service, client, `${scope} offline_access`)
    const told = {
      verification_uri: waiting.page,
      user_code: waiting.userCode,
      phrase: waiting.phrase,
    }
    if (screen.isJson) screen.say(JSON.stringify(told))
    else
      screen.say(
        `Open ${waiting.page}\nand enter  ${waiting.userCode}\nIt has to show  ${waiting.phrase}\n`,
      )
    const tokens = await waitForOwner(call, service, client, waiting)
    const device_id = isKnown ? known.device_id : `aoa-${randomBytes(8).toString('hex')}`
    keepSession(env, {
      base_url: service.baseUrl,
      client_id: client,
      device_id,
      ...tokensIn(tokens, now()),
    })
    const answer = { base_url: service.baseUrl, scope: tokens['scope'] }
    screen.show(answer, () => `Logged in to ${service.baseUrl} with ${String(tokens['scope'])}.`)
    return 0
  },
}

async function waitForOwner(
  { pause, screen }: Call,
  service: Parameters<typeof askForCode>[0],
  client: string,
  { deviceCode, intervalSeconds }: Awaited<ReturnType<typeof askForCode>>,
) {
  let seconds = intervalSeconds
  screen.say('Waiting for the owner ...')
  for (;;) {
    await pause(seconds * 1000)
    const answer = await pollForTokens(service, client, deviceCode)
    if (!('error' in answer)) return answer
    if (answer['error'] === 'slow_down') seconds += 5
    else if (answer['error'] !== 'authorization_pending') {
      throw new Error(String(answer['error_description'] ?? answer['error']))
    }
  }
}

const logout: Command = {
  usage: '',
  summary: 'end the access of this computer',
  examples: ['aoa logout'],
  async run({ env, fetch, screen }) {
    const session = readSession(env)
    if (session) await revoke(session, fetch)
    forgetSession(env)
    screen.show({ logged_in: false }, () => 'Logged out.')
    return 0
  },
}

const whoami: Command = {
  usage: '',
  summary: 'the account, what this login may do, and what it may still spend',
  examples: ['aoa whoami', 'aoa whoami --json'],
  async run({ account, screen }) {
    const me = await account().getIdentity()
    const { credential, limits } = me
    screen.show(me, () =>
      facts([
        ['account', me.alias],
        ['mail', me.mail_address],
        ...me.wallets.map(
          ({ chain_family, address }) => [`wallet (${chain_family})`, address] as const,
        ),
        ['may', credential.scopes.join(', ')],
        ['until', credential.expires_at],
        ['of this login left today', credential.caps?.left_today_usd],
        [
          'without asking left',
          `${limits.automatic_daily.left_usd} of ${limits.automatic_daily.limit_usd} USD`,
        ],
        [
          'on your word left',
          `${limits.asserted_daily.left_usd} of ${limits.asserted_daily.limit_usd} USD`,
        ],
        [
          'everything left',
          `${limits.daily_spending_cap.left_usd} of ${limits.daily_spending_cap.limit_usd} USD`,
        ],
        ['frozen', me.frozen ? 'yes' : 'no'],
      ]),
    )
    return 0
  },
}

/** Commands by name. */
export const loginCommands = { login, logout, whoami }
