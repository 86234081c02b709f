/**
 * An agent that tries to learn one of its owner's secrets. It sends any request that the operations accept,
 * to any path of a site, and reads what the site shows without the service.
 */
import type { HonestSite } from './honest-site.ts'
import { removedEchoes } from './hostile-echo.ts'
import { leaksIn, needlesOf, textsIn } from './leaks.ts'
import type { Random } from './seed.ts'
import { loginOf } from './vault.ts'
import { approveDestination, codeOf, entryOf } from './vault-rows.ts'
import type { Agent, Answer, TestWorld } from './world.ts'

export const password = 'Canary-1 horse "battery"'
const username = 'ada'
const totp = { seed: 'JBSWY3DPEHPK3PXP', algorithm: 'SHA1', digits: 6, periodSeconds: 30 } as const
const fields = { token: 'canary-tok-4711' }
const host = '127.0.0.1'
export const mailed = '904817'

/** Matches everything that must not be shown, as a site would write it down. */
export const secretWords = new RegExp(
  ['canary', mailed, Buffer.from(`${username}:${password}`).toString('base64').slice(0, 24)].join(
    '|',
  ),
  'i',
)

const usualNames = 'password username otp code user[password] body'.split(' ')
const headerNames = [
  'user-agent',
  'cookie',
  'accept',
  'x-api-key',
  'referer',
  'authorization',
  'x-a',
]
const apiPaths = ['/api/me', '/api/login', '/basic', '/graphql', '/login/password', '/']
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

export type Thief = {
  agent: Agent
  credential_id: string
  act(): Promise<Answer>
  /** Returns the secrets that an answer reveals. */
  leaksIn(answer: Answer): string[]
}

/** Creates a login of the owner with four approved places, and an agent with all powers of its key. */
export async function openThief(
  world: TestWorld,
  site: HonestSite,
  chance: Random,
): Promise<Thief> {
  const agent = await world.agent('full')
  const entry = { site: site.origin, username, password, totp, fields }
  const credential_id = await entryOf(world, agent, entry)
  const json = { where: 'json_field', name: '/password', path: '/api/login' } as const
  await approveDestination(world, credential_id, json)
  await approveDestination(world, credential_id, { where: 'basic', method: 'GET', path: '/basic' })
  const key = { where: 'header', name: 'x-api-key', method: 'GET', path: '/api/me' } as const
  await approveDestination(world, credential_id, { ...key, secret: 'fields.token' })
  const also = [{ secret: 'username', name: 'username' }]
  await approveDestination(world, credential_id, {
    kind: 'form',
    page: '/login',
    path: '/login',
    name: 'password',
    also,
  })
  const neighbour = new URL(site.origin)
  neighbour.hostname = 'localhost'
  const own = await loginOf(agent, { site: neighbour.origin, username, password: 'my own words' })
  const paths = [...site.paths, ...apiPaths]
  const fieldNames = [...usualNames, ...site.fields]
  const sessions: unknown[] = []
  const pick = <One>(list: readonly [One, ...One[]] | readonly One[]): One => {
    const one = list[chance.between(0, list.length - 1)]
    if (one === undefined) throw new Error('nothing to pick from')
    return one
  }
  const some = (make: () => object) => (chance.between(0, 1) === 1 ? make() : {})
  const handle = () => codeOf(world, agent, { value: mailed, hosts: [host] })
  const filled = () => ({ [pick(fieldNames)]: pick(['x', 'ada', '<b>', 'password', '']) })
  const pathOf = () =>
    pick(paths) + pick(['', '', '', '?q=1', '?next=/note', '?next=//evil.example'])

  const inject = async () => {
    const coded = chance.between(0, 9) === 0 ? `mail.${await handle()}` : 'totp'
    const secret = pick(['password', 'fields.token', 'username', 'password', coded])
    return pick([
      { where: 'form_field', name: pick(fieldNames), secret },
      {
        where: 'json_field',
        pointer: `/${pick(['user/', 'variables/', ''])}${pick(fieldNames)}`,
        secret,
      },
      { where: 'header', name: pick(headerNames), prefix: pick(['', 'a=', 'Bearer ']), secret },
      { where: 'bearer', secret },
      { where: 'basic' },
    ])
  }
  const use = async () =>
    agent.post('/vault-use', {
      credential_id: chance.between(0, 9) === 0 ? own : credential_id,
      method: pick(methods),
      path: pathOf(),
      ...some(() => ({ headers: { [pick(headerNames)]: pick(['sid=1', 'Bearer mine', 'x']) } })),
      ...some(() => ({ [pick(['form', 'json'])]: { user: 'ada', ...some(filled) } })),
      inject: [await inject(), ...(chance.between(0, 3) === 0 ? [await inject()] : [])],
    })
  const login = async () => {
    const answer = await agent.post('/vault-login', {
      credential_id: chance.between(0, 9) === 0 ? own : credential_id,
      path: pathOf(),
      fields: filled(),
    })
    if (answer.status === 200) sessions.push(answer.body['session'])
    return answer
  }
  const goOn = async () => {
    const coded = chance.between(0, 4) === 0 ? `mail.${await handle()}` : 'totp'
    const form = { form: chance.between(0, 2), fields: { ...some(filled), ...some(filled) } }
    return agent.post('/vault-session', {
      session: sessions.at(-1),
      ...pick([
        { path: pathOf() },
        {
          ...form,
          ...some(() => ({
            secret: pick(['password', coded, 'previous_password']),
          })),
        },
      ]),
    })
  }
  return {
    agent,
    credential_id,
    leaksIn({ body }) {
      return leaksIn(textsIn(body), needles)
    },
    act: () => (sessions.length === 0 ? login() : pick([use, use, login, goOn, goOn, goOn])()),
  }
}

/** The needles. An API's echo of its key is removed in the usual encodings; a password or a code has no answer. */
const needles = [
  ...[password, mailed, totp.seed].flatMap((secret) => needlesOf(secret)),
  ...needlesOf(fields.token, removedEchoes),
]

/** Lets the thief act a number of times. Returns the leaks, and how often an act was allowed. */
export async function steal(
  thief: Thief,
  times: number,
): Promise<{ leaks: string[]; done: number }> {
  const leaks: string[] = []
  let done = 0
  for (let count = 0; count < times; count += 1) {
    const answer = await thief.act()
    const { status, body } = answer
    if (status >= 500 && status !== 502) throw new Error(JSON.stringify(body))
    if (status === 200) done += 1
    for (const leak of thief.leaksIn(answer)) leaks.push(`${leak} in ${JSON.stringify(body)}`)
  }
  return { leaks, done }
}
