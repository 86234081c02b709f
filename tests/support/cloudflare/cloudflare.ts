/** A fake of api.cloudflare.com, as far as wrangler and our programs call it. It serves one account. */
import { gzipSync } from 'node:zlib'
import { type Context, Hono } from 'hono'
import * as z from 'zod'
import { listen } from '../../../scripts/local/process/listen.ts'
import { atEnd } from '../ending.ts'
import {
  type Account,
  activeVersion,
  addRoute,
  addVersion,
  deploy,
  metadataSchema,
  openAccount,
  Refusal,
  remove,
  removeRoute,
  requireSize,
  type Script,
  scriptOf,
  setCrons,
  setRoutes,
  type Version,
} from './account.ts'

/** A running fake. */
export type Cloudflare = {
  /** Address for CLOUDFLARE_API_BASE_URL. */
  url: string
  account: Account
  token: string
  /** Calls that change something, such as `PUT /workers/scripts/aoa-web`, and all calls. */
  changes: readonly string[]
  calls: readonly string[]
  /** Is asked after each change, before it is answered. */
  afterChange: (listener: (call: string) => void) => void
}

/** Starts the fake, which ends with the test file. */
export async function startCloudflare(zone: string): Promise<Cloudflare> {
  const account = openAccount(zone)
  const calls: string[] = []
  const changes: string[] = []
  let listener = (_call: string) => {}
  const afterChange = (next: typeof listener) => {
    listener = next
  }
  const token = 'token-of-the-account-that-no-log-may-show'
  const cloudflare: Cloudflare = { url: '', account, token, changes, calls, afterChange }
  const app = new Hono().basePath('/client/v4')
  app.use(async (c, next) => {
    const call = `${c.req.method} ${c.req.path.replace(/^\/client\/v4(\/accounts\/[^/]+)?/, '')}`
    calls.push(call)
    if (c.req.header('authorization') !== `Bearer ${cloudflare.token}`) {
      throw new Refusal(403, 10000, 'Authentication error')
    }
    await next()
    if (c.req.method === 'GET' || c.error) return
    changes.push(call)
    listener(call)
  })
  serveScripts(app, account)
  serveVersions(app, account)
  serveTriggers(app, account)
  serveZone(app, account)
  app.notFound((c) => refuse(new Refusal(404, 7000, `No route for that URI: ${c.req.path}`)))
  app.onError(refuse)
  const { url, close } = await listen((request) => app.fetch(request))
  atEnd(close)
  cloudflare.url = `${url}/client/v4`
  return cloudflare
}

function answer(c: Context, result: unknown): Response {
  return c.json({ success: true, errors: [], messages: [], result })
}

/** Answers a refusal. What has another form than the original takes is refused as well. */
function refuse(error: Error): Response {
  const { status, code, message } =
    error instanceof Refusal ? error : new Refusal(400, 10001, `Bad request: ${error.message}`)
  const body = { success: false, errors: [{ code, message }], messages: [], result: null }
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json' },
  })
}

/** Returns the parameter, after the account was compared with the one that there is. */
function nameIn(c: Context, account: Account): string {
  if (c.req.param('account') !== account.id) throw new Refusal(403, 10000, 'Authentication error')
  return c.req.param('name') ?? ''
}

function serveScripts(app: Hono, account: Account): void {
  app.get('/accounts/:account/workers/services/:name', (c) => {
    const name = nameIn(c, account)
    if (!account.scripts.has(name)) throw new Refusal(404, 10090, 'This Worker does not exist.')
    const script = { id: name, tag: name, tags: [], last_deployed_from: 'wrangler' }
    return answer(c, { id: name, default_environment: { environment: 'production', script } })
  })
  app.get('/accounts/:account/workers/services/:name/environments/production/routes', (c) => {
    const name = nameIn(c, account)
    scriptOf(account, name)
    const all = [...account.routes, ...account.elsewhere]
    return answer(
      c,
      all.filter(({ script }) => script === name).map(({ pattern }) => ({ pattern })),
    )
  })
  app.get('/accounts/:account/workers/scripts', (c) => {
    nameIn(c, account)
    const ids = [...account.scripts.keys()].toSorted()
    return answer(
      c,
      ids.map((id) => ({ id, tag: id })),
    )
  })
  app.get('/accounts/:account/workers/workers/:name', (c) => {
    const { isOnWorkersDev: enabled } = scriptOf(account, nameIn(c, account))
    return answer(c, { subdomain: { enabled, previews_enabled: false } })
  })
  app.post('/accounts/:account/workers/scripts/:name/subdomain', async (c) => {
    const { enabled } = z.object({ enabled: z.boolean() }).parse(await c.req.json())
    scriptOf(account, nameIn(c, account)).isOnWorkersDev = enabled
    return answer(c, { enabled, previews_enabled: false })
  })
  app.get('/accounts/:account/workers/scripts/:name/secrets', (c) => {
    const { versions } = scriptOf(account, nameIn(c, account))
    const secrets = versions[0]?.bindings.filter(({ type }) => type === 'secret_text') ?? []
    return answer(
      c,
      secrets.map(({ name, type }) => ({ name, type })),
    )
  })
  app.patch('/accounts/:account/workers/scripts/:name/script-settings', (c) => {
    scriptOf(account, nameIn(c, account))
    return answer(c, {})
  })
  app.put('/accounts/:account/workers/scripts/:name', async (c) => {
    const name = nameIn(c, account)
    const version = await takeVersion(c, account, name)
    deploy(account, name, version.id)
    return answer(c, { id: name, deployment_id: version.id.replaceAll('-', ''), etag: version.id })
  })
  app.delete('/accounts/:account/workers/scripts/:name', (c) => {
    remove(account, nameIn(c, account), c.req.query('force') === 'true')
    return answer(c, null)
  })
}

async function takeVersion(c: Context, account: Account, name: string): Promise<Version> {
  const { metadata, ...files } = Object.fromEntries(await c.req.formData())
  const described = metadataSchema.parse(JSON.parse(z.string().parse(metadata)))
  const modules: Record<string, string> = {}
  for (const [file, part] of Object.entries(files)) {
    if (!(part instanceof File) || part.type !== 'application/javascript+module') {
      throw new Refusal(400, 10021, `${file} is not a module`)
    }
    modules[file] = await part.text()
  }
  requireSize(gzipSync(Object.values(modules).join('')).length)
  return addVersion(account, name, described, modules)
}

function serveVersions(app: Hono, account: Account): void {
  const script = '/accounts/:account/workers/scripts/:name' as const
  app.post(`${script}/versions`, async (c) => {
    const name = nameIn(c, account)
    scriptOf(account, name)
    return answer(c, describeVersion(await takeVersion(c, account, name)))
  })
  app.get(`${script}/versions/:version`, (c) => {
    const { versions } = scriptOf(account, nameIn(c, account))
    const found = versions.find(({ id }) => id === c.req.param('version'))
    if (!found) throw new Refusal(404, 10009, 'Version not found.')
    return answer(c, describeVersion(found))
  })
  app.get(`${script}/deployments`, (c) => {
    const { deployments } = scriptOf(account, nameIn(c, account))
    return answer(c, { deployments: deployments.map(describeDeployment) })
  })
  app.post(`${script}/deployments`, async (c) => {
    const asked = z
      .object({
        strategy: z.literal('percentage'),
        versions: z.tuple([z.object({ version_id: z.uuid(), percentage: z.literal(100) })]),
      })
      .parse(await c.req.json())
    const name = nameIn(c, account)
    const [{ version_id: version }] = asked.versions
    requireSameSecrets(scriptOf(account, name), version, c.req.query('force') === 'true')
    return answer(c, describeDeployment(deploy(account, name, version)))
  })
}

/** Refuses a version from before a secret changed, unless it is forced. */
function requireSameSecrets(script: Script, versionId: string, isForced: boolean): void {
  const secretsOf = (version: Version | undefined) =>
    new Map(
      version?.bindings.flatMap((one) =>
        one.type === 'secret_text' ? [[one.name, one.text]] : [],
      ),
    )
  const wanted = script.versions.find(({ id }) => id === versionId)
  if (isForced || !wanted || wanted === script.versions[0]) return
  const now = secretsOf(activeVersion(script))
  const changed = [...secretsOf(wanted)].filter(([name, text]) => now.get(name) !== text)
  if (changed.length === 0) return
  const names = changed.map(([name]) => name).join(', ')
  throw new Refusal(400, 10220, `The following secrets have changed: ${names}`)
}

function describeVersion({ id, number, createdOn, bindings, metadata, modules }: Version) {
  return {
    id,
    number,
    metadata: { created_on: createdOn, source: 'wrangler' },
    annotations: metadata.annotations,
    resources: {
      script: { etag: id, handlers: [], named_handlers: [] },
      bindings: bindings.map((one) =>
        one.type === 'secret_text' ? { name: one.name, type: one.type } : one,
      ),
      script_runtime: { compatibility_date: metadata.compatibility_date },
    },
    startup_time_ms: Object.keys(modules).length,
  }
}

function describeDeployment({ id, createdOn, versionId }: Script['deployments'][number]) {
  const versions = [{ version_id: versionId, percentage: 100 }]
  return { id, created_on: createdOn, source: 'wrangler', strategy: 'percentage', versions }
}

function serveTriggers(app: Hono, account: Account): void {
  const script = '/accounts/:account/workers/scripts/:name' as const
  app.get(`${script}/schedules`, (c) => {
    const { crons } = scriptOf(account, nameIn(c, account))
    return answer(c, { schedules: crons.map((cron) => ({ cron })) })
  })
  app.put(`${script}/schedules`, async (c) => {
    const asked = z.array(z.strictObject({ cron: z.string() })).parse(await c.req.json())
    setCrons(
      account,
      nameIn(c, account),
      asked.map(({ cron }) => cron),
    )
    return answer(c, { schedules: asked })
  })
  app.put(`${script}/routes`, async (c) => {
    const asked = z.array(z.looseObject({ pattern: z.string() })).parse(await c.req.json())
    const patterns = asked.map(({ pattern }) => pattern)
    return answer(c, setRoutes(account, nameIn(c, account), patterns))
  })
}

function serveZone(app: Hono, account: Account): void {
  const { zoneId } = account
  const requireZone = (c: Context) => {
    if (c.req.param('zone') !== zoneId) throw new Refusal(403, 10000, 'Authentication error')
  }
  app.get('/zones', (c) => {
    const isAsked = c.req.query('name') === account.zone && c.req.query('account.id') === account.id
    return answer(c, isAsked ? [{ id: zoneId, name: account.zone }] : [])
  })
  app.get('/zones/:zone/workers/routes', (c) => {
    requireZone(c)
    return answer(c, account.routes)
  })
  app.post('/zones/:zone/workers/routes', async (c) => {
    requireZone(c)
    const asked = z.object({ pattern: z.string(), script: z.string() }).parse(await c.req.json())
    return answer(c, addRoute(account, asked.pattern, asked.script))
  })
  app.delete('/zones/:zone/workers/routes/:route', (c) => {
    requireZone(c)
    removeRoute(account, c.req.param('route'))
    return answer(c, null)
  })
}
