/** Reads back what each document states about every operation, so that the documents can be compared. */
import * as z from 'zod'

/** Facts about one operation on which all documents must agree. */
export type Said = {
  id: string
  call: string
  scope: string
  gap: string | null
  status: string | null
  errors: string[]
}

const gapFields = { gap_id: z.string().optional(), status: z.string().optional() }

function said(
  id: string,
  call: string,
  scope: string,
  {
    gap_id: gap = null,
    status = null,
  }: { gap_id?: string | null | undefined; status?: string | null | undefined },
  errors: readonly string[],
): Said {
  return { id, call, scope, gap, status, errors: errors.toSorted() }
}

const refusal = z.object({
  content: z.object({
    'application/json': z.object({
      schema: z.object({
        allOf: z.tuple([
          z.object({ $ref: z.literal('#/components/schemas/Refusal') }),
          z.object({ properties: z.object({ error: z.object({ enum: z.array(z.string()) }) }) }),
        ]),
      }),
    }),
  }),
})
const openApi = z.object({
  'x-contract-digest': z.string(),
  'x-gaps': z.unknown(),
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        operationId: z.string(),
        'x-scope': z.string(),
        'x-gap-id': z.string().optional(),
        'x-gap-status': z.string().optional(),
        security: z.array(z.record(z.string(), z.array(z.string()))),
        responses: z.record(z.string(), z.unknown()),
      }),
    ),
  ),
  components: z.object({ responses: z.record(z.string(), refusal) }),
})
const reference = z.object({ $ref: z.string() })

export function readOpenApi(text: string) {
  const document = openApi.parse(JSON.parse(text))
  const codesAt = (response: unknown) => {
    const name = reference.parse(response).$ref.replace('#/components/responses/', '')
    const schema = document.components.responses[name]?.content['application/json'].schema
    return schema?.allOf[1].properties.error.enum ?? []
  }
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => {
      const refusals = Object.entries(one.responses).filter(([status]) => status !== '200')
      const gap = { gap_id: one['x-gap-id'], status: one['x-gap-status'] }
      const errors = refusals.flatMap(([, response]) => codesAt(response))
      return said(one.operationId, `${method.toUpperCase()} ${path}`, one['x-scope'], gap, errors)
    }),
  )
  return { digest: document['x-contract-digest'], gaps: document['x-gaps'], operations }
}

const tool = { method: z.string(), scope: z.string(), errors: z.array(z.string()), ...gapFields }
const manifest = z.object({
  contract_digest: z.string(),
  base_url: z.string(),
  gaps: z.unknown(),
  tools: z.array(z.object({ ...tool, name: z.string(), url: z.url() })),
})

export function readManifest(text: string) {
  const { contract_digest: digest, gaps, tools, base_url } = manifest.parse(JSON.parse(text))
  const operations = tools.map(({ name, method, url, scope, errors, ...gap }) =>
    said(name, `${method} ${url.replace(base_url, '')}`, scope, gap, errors),
  )
  return { digest, gaps, operations }
}

const card = z.object({
  capabilities: z.object({
    extensions: z.tuple([
      z.object({
        params: z.object({
          contract_digest: z.string(),
          gaps: z.unknown(),
          operations: z.array(z.object({ ...tool, id: z.string(), path: z.string() })),
        }),
      }),
    ]),
  }),
})

export function readCard(text: string) {
  const { params } = card.parse(JSON.parse(text)).capabilities.extensions[0]
  const operations = params.operations.map(({ id, method, path, scope, errors, ...gap }) =>
    said(id, `${method} ${path}`, scope, gap, errors),
  )
  return { digest: params.contract_digest, gaps: params.gaps, operations }
}

const llmsLine =
  /^- \[([a-z0-9_]+)\]\([^)]*(\/[a-z0-9-]+)\): (GET|POST), scope ([a-z]+)\. .*?(?:`(GAP_[A-Z0-9_]+)`: ([a-z_]+)\. )?Refusals: ([a-z_, ]+)\.$/gm

export function readLlms(text: string) {
  const [, digest] = /Contract digest: `([0-9a-f]{64})`/.exec(text) ?? []
  const gaps = [...(text.split('\n## ')[0]?.matchAll(/`(GAP_\w+)` is `(\w+)`/g) ?? [])].map(
    ([, gap_id, status]) => ({ gap_id, status }),
  )
  const lines = [...text.matchAll(llmsLine)]
  const operations = lines.map(
    ([, id = '', path = '', method = '', scope = '', gap_id, status, errors = '']) =>
      said(id, `${method} ${path}`, scope, { gap_id, status }, errors.split(', ')),
  )
  return { digest, gaps, operations }
}

const skillRow =
  /^\| `([a-z0-9_]+)`(\*?) \| (GET|POST)(?: (\/[a-z0-9-]+))? \| ([a-z]+) \| (GAP_[A-Z0-9_]*)? ?\| ([a-z_ ]*)\|$/gm

export function readSkill(text: string) {
  const [, digest] = /contract-digest: "([0-9a-f]{64})"/.exec(text) ?? []
  const gaps = [...text.matchAll(/^- `(GAP_\w+)`: `(\w+)`, /gm)].map(
    ([, gap_id = '', status = '']) => ({ gap_id, status }),
  )
  const operations = [...text.matchAll(skillRow)].map(
    ([, id = '', star, method = '', named, scope = '', gap_id, errors = '']) => {
      const path = named ?? `/${id.replaceAll('_', '-')}`
      const own = errors.split(' ').filter((code) => code !== '')
      const status = gaps.find((gap) => gap.gap_id === gap_id)?.status
      const all = [...own, ...sharedRefusals(text, { scope, method, isStarred: star === '*' })]
      return said(id, `${method} ${path}`, scope, { gap_id, status }, all)
    },
  )
  return { digest, gaps, operations }
}

/** Reads the paragraph that lists the refusals which operations share, as a human reader would. */
function sharedRefusals(
  text: string,
  { scope, method, isStarred }: { scope: string; method: string; isStarred: boolean },
): string[] {
  const paragraph = text.split('\n\n').find((one) => one.startsWith('Any operation may also')) ?? ''
  const [any = '', scoped = '', posted = '', starred = ''] = paragraph.split(';')
  const codes = (part: string) =>
    [...part.matchAll(/`([a-z]+_[a-z_]+|unauthorized|unavailable|conflict)`/g)].map(
      ([, code = '']) => code,
    )
  const ofScope = codes(scoped).filter((code) => scope !== 'any' || code !== 'insufficient_scope')
  const anyCodes = codes(any)
  return [
    ...anyCodes,
    ...(scope === 'public' ? [] : ofScope),
    ...(method === 'POST' ? codes(posted) : []),
    ...(isStarred ? codes(starred) : []),
  ]
}
