/** Scripts with which an agent tries to learn its owner's secret at a site; each runs to its end. */
import { expect } from 'vitest'
import { honestKinds } from './honest-kinds.ts'
import { type HonestKind, type HonestSite, openHonestSite } from './honest-site.ts'
import { mailed, openThief, secretWords } from './secret-thief.ts'
import { randomOf } from './seed.ts'
import { codeOf } from './vault-rows.ts'
import type { Agent, Answer, TestWorld } from './world.ts'

export type Scene = {
  agent: Agent
  site: HonestSite
  credential_id: string
  /** Returns a fresh code from a mail. */
  handle: () => Promise<string>
}

/** Runs a theft and returns all answers that the agent got. */
export type Theft = (scene: Scene) => Promise<Answer[]>

const lures = ['sunshine', '{{password}}', '" onload="']

/** Opens pages and lets the service fill in what it finds there. */
const everyForm: Theft = async (scene) => {
  const { answers, step } = await begin(scene, '/login')
  const asked: [path: string, secret: string][] = [
    [scene.site.paths.at(-1) ?? '/', 'password'],
    ['/confirm', 'password'],
    ['/otp', 'totp'],
    ['/otp', `mail.${await scene.handle()}`],
  ]
  for (const [path, secret] of asked) {
    await step({ path })
    await step({ form: 0, secret })
  }
  await step({ path: scene.site.paths.at(-1) })
  return answers
}

/** Writes into forms what a template would fill in, and reads the result. */
const everyField: Theft = async (scene) => {
  const { answers, step } = await begin(scene, '/login?next=/profile')
  const path = scene.site.paths.at(-1) ?? '/'
  for (const lure of lures) {
    await step({ path: `${path}?q=${lure.replaceAll(/[^a-z]/g, '')}` })
    const fields = Object.fromEntries(scene.site.fields.map((name) => [name, lure]))
    await step({ form: 0, fields, secret: 'password' })
    await step({ form: 0, fields })
  }
  return answers
}

/** Sends its own requests, with secrets in every place that a template has. */
const everyTemplate: Theft = async ({ agent, site, credential_id, handle }) => {
  const path = site.paths.at(-1) ?? '/'
  const name = site.fields.at(-1) ?? 'text'
  const secrets = ['password', 'fields.token', 'totp', `mail.${await handle()}`]
  const injections = [
    ...secrets.map((secret) => ({ where: 'form_field', name, secret })),
    { where: 'json_field', pointer: `/${name}`, secret: 'password' },
    { where: 'header', name: 'user-agent', secret: 'password' },
    { where: 'header', name: 'cookie', prefix: 'a=', secret: 'fields.token' },
    { where: 'bearer', secret: 'fields.token' },
    { where: 'basic' },
  ]
  const answers: Answer[] = []
  for (const inject of injections) {
    const template = { method: 'POST', path, inject: [inject] }
    answers.push(await agent.post('/vault-use', { credential_id, ...template }))
  }
  return answers
}

/** Uses approved places with its own words next to them, and looks for traces on later pages. */
const everyTrace: Theft = async (scene) => {
  const { agent, site, credential_id } = scene
  const { answers, step } = await begin(scene, '/two-steps')
  const json = { where: 'json_field', pointer: '/password', secret: 'password' }
  const key = { where: 'header', name: 'X-Api-Key', secret: 'fields.token' }
  const orders = [
    { method: 'POST', path: '/api/login', json: { user: 'ada' }, inject: [json] },
    { method: 'POST', path: '/api/login', json: { user: 'ada', text: 'x' }, inject: [json] },
    { method: 'GET', path: '/basic', headers: { 'user-agent': 'x' }, inject: [{ where: 'basic' }] },
    { method: 'GET', path: '/basic?debug=1', inject: [{ where: 'basic' }] },
    { method: 'GET', path: '/api/me', inject: [key] },
    { method: 'GET', path: '/api/me', headers: { accept: 'text/html' }, inject: [key] },
  ]
  for (const order of orders) {
    answers.push(await agent.post('/vault-use', { credential_id, ...order }))
  }
  await step({ path: site.paths.at(-1) })
  const { answers: anew } = await begin(scene, site.paths.at(-1) ?? '/')
  return [...answers, ...anew]
}

/** All thefts, by what they try. */
const thefts: Readonly<Record<string, Theft>> = {
  'secrets in every form': everyForm,
  'words in every field': everyField,
  'secrets in every template': everyTemplate,
  'traces of approved uses': everyTrace,
}

/** One theft at one kind of honest site. */
export type Attempt = { kind: HonestKind; name: string; theft: Theft }

/** Each theft at each kind of honest site. */
export const attempts: readonly Attempt[] = honestKinds.flatMap((kind) =>
  Object.entries(thefts).map(([name, theft]) => ({ kind, name, theft })),
)

/** Asserts that the attempt reveals nothing, neither to the agent nor to visitors of the site. */
export async function expectNothingTold(world: TestWorld, { kind, theft }: Attempt): Promise<void> {
  const site = await openHonestSite(kind)
  const thief = await openThief(world, site, randomOf(1))
  const { agent, credential_id } = thief
  const handle = () => codeOf(world, agent, { value: mailed, hosts: ['127.0.0.1'] })

  const answers = await theft({ agent, site, credential_id, handle })

  expect(answers.filter(({ status }) => status >= 500 && status !== 502)).toEqual([])
  expect(answers.flatMap((answer) => thief.leaksIn(answer))).toEqual([])
  expect(site.shown()).not.toMatch(secretWords)
}

async function begin({ agent, credential_id }: Scene, path: string) {
  const answers = [await agent.post('/vault-login', { credential_id, path })]
  const session = answers[0]?.body['session']
  const step = async (order: object) => {
    answers.push(await agent.post('/vault-session', { session, ...order }))
  }
  return { answers, step }
}
