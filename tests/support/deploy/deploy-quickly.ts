/** A fake of wrangler: it uploads a worker by the same requests, without starting a program. */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { Api } from '../../../scripts/deploy/upload/account.ts'
import type { Deploying } from '../../../scripts/deploy/upload/wrangler.ts'

export async function deployQuickly(api: Api, deploying: Deploying): Promise<void> {
  const { name, routes, crons } = deploying.worker
  const path = `/accounts/${api.accountId}/workers/scripts/${name}`
  await send(api, path, formOf(deploying))
  await send(api, `${path}/schedules`, JSON.stringify(crons.map((cron) => ({ cron }))))
  if (routes.length === 0) return
  await send(api, `${path}/routes`, JSON.stringify(routes.map((pattern) => ({ pattern }))))
}

function formOf({ worker, file, secrets, tag }: Deploying): FormData {
  const main = basename(file)
  const texts = (type: string, values: Readonly<Record<string, string>>) =>
    Object.entries(values).map(([name, text]) => ({ name, type, text }))
  const services = worker.services.map(({ binding, service }) => ({
    name: binding,
    type: 'service',
    service,
  }))
  const metadata = {
    main_module: main,
    bindings: [...texts('plain_text', worker.vars), ...texts('secret_text', secrets), ...services],
    compatibility_date: worker.compatibilityDate,
    compatibility_flags: worker.compatibilityFlags,
    annotations: { 'workers/tag': tag },
  }
  const form = new FormData()
  form.set('metadata', JSON.stringify(metadata))
  const type = 'application/javascript+module'
  form.set(main, new File([readFileSync(file)], main, { type }))
  return form
}

async function send({ url, token, signal }: Api, path: string, body: string | FormData) {
  signal.throwIfAborted()
  const headers = {
    authorization: `Bearer ${token}`,
    ...(typeof body === 'string' && { 'content-type': 'application/json' }),
  }
  const answer = await fetch(`${url}${path}`, { method: 'PUT', headers, body, signal })
  if (!answer.ok) throw new Error(`PUT ${path} answers ${await answer.text()}`)
}
