/** Commands for logins that are used without being read. */
import { readHeaderLines } from './buying.ts'
import { type Call, type Command, needed, textOption, textOptions, UsageError } from './command.ts'
import { exitCodes } from './exit-codes.ts'
import { table } from './screen.ts'

const vault: Command = {
  usage: 'list | login <id> <path> | use <id> <method> <path>',
  summary: 'logins of the account; their secrets are used and never shown',
  options: {
    secret: { type: 'string', multiple: true },
    header: { type: 'string', short: 'H', multiple: true },
    data: { type: 'string', short: 'd' },
  },
  help: `login signs in with the form of that page; use sends a request of yours.

--secret      where a secret goes, once for each: basic, bearer=SECRET, header:NAME=SECRET, form:FIELD=SECRET or
              json:/POINTER=SECRET; SECRET is password, totp, username, fields.NAME or mail.HANDLE
-H, --header  "Name: value"
-d, --data    the members of the body that are not secret, as JSON`,
  examples: [
    'aoa vault list',
    'aoa vault login 0f8fad5b-d9cb-469f-a165-70867728950e /login',
    'aoa vault use 0f8fad5b-d9cb-469f-a165-70867728950e GET /api/orders --secret bearer=fields.token',
  ],
  run(call) {
    switch (call.words[0]) {
      case 'login':
        return signIn(call)
      case 'use':
        return sendWith(call)
      case 'list':
      case undefined:
        return listLogins(call)
      default:
        throw new UsageError('vault takes list, login or use')
    }
  },
}

async function listLogins({ account, screen }: Call): Promise<number> {
  const { credentials } = await account().vaultList()
  const rows = credentials.map((one) => ({
    site: one.site,
    user: one.username ?? one.untrusted?.text,
    secrets: [one.has_password && 'password', one.has_totp && 'authenticator']
      .filter(Boolean)
      .join(', '),
    id: one.credential_id,
  }))
  screen.show(credentials, () => table(rows, 'There are no logins.'))
  return 0
}

async function signIn(call: Call): Promise<number> {
  const credential_id = needed(call, 1, 'the id of the login')
  const answer = await call
    .account()
    .vaultLogin({ credential_id, path: needed(call, 2, 'the path of the page') })
  call.screen.show(answer, () => JSON.stringify(answer, null, 2))
  return 0
}

type Template = Parameters<ReturnType<Call['account']>['vaultUse']>[0]
type Injection = Template['inject'][number]

/** Sends the request; the body of the answer is data, whatever it says. */
async function sendWith(call: Call): Promise<number> {
  const method = needed(call, 2, 'the method').toUpperCase()
  const known = methods.find((one) => one === method)
  if (!known) throw new UsageError(`the method is none of ${methods.join(', ')}`)
  const data = textOption(call, 'data')
  const answer = await call.account().vaultUse({
    credential_id: needed(call, 1, 'the id of the login'),
    method: known,
    path: needed(call, 3, 'the path'),
    headers: Object.fromEntries(readHeaderLines(textOptions(call, 'header'))),
    inject: textOptions(call, 'secret').map(placeOf),
    ...(data !== undefined && { json: membersOf(data) }),
  })
  const { response, withheld } = answer
  call.screen.show(answer, () => response?.body ?? `The answer is withheld: ${withheld}.`)
  return response && response.status >= 400 ? exitCodes.failed : 0
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

function placeOf(text: string): Injection {
  if (text === 'basic') return { where: 'basic' }
  const [, where = '', name = '', secret = ''] = /^(\w+)(?::([^=]+))?=(.+)$/.exec(text) ?? []
  switch (where) {
    case 'bearer':
      return { where, secret }
    case 'header':
      return { where, name, secret }
    case 'form':
      return { where: 'form_field', name, secret }
    case 'json':
      return { where: 'json_field', pointer: name, secret }
    default:
      throw new UsageError(`--secret takes such as bearer=fields.token, not ${text}`)
  }
}

function membersOf(data: string): Record<string, unknown> {
  try {
    const read: unknown = JSON.parse(data)
    if (typeof read === 'object' && read !== null && !Array.isArray(read)) return { ...read }
  } catch {
    // Said below.
  }
  throw new UsageError('--data takes a JSON object')
}

/** Command by name. */
export const vaultCommands = { vault }
