/**
 * Looks at a Supabase project and at the rights of the access token. A right to write is seen by a request whose
 * content is sure to be refused: without the right, the API refuses it before it reads the content.
 */
import { type Finding, well, wrong } from './finding.ts'
import { callProject, readProject, type SupabaseProject } from './supabase.ts'

type Probe = { right: string; method: 'GET' | 'POST' | 'PATCH'; path: string; body?: object }

const probes: readonly Probe[] = [
  { right: 'data_api_config_read', method: 'GET', path: '/postgrest' },
  { right: 'data_api_config_write', method: 'PATCH', path: '/postgrest', body: { max_rows: -1 } },
  { right: 'auth_signing_keys_read', method: 'GET', path: '/config/auth/signing-keys' },
  {
    right: 'auth_signing_keys_write',
    method: 'POST',
    path: '/config/auth/signing-keys',
    body: { algorithm: 'none' },
  },
  { right: 'api_gateway_keys_read', method: 'GET', path: '/api-keys' },
  { right: 'api_gateway_keys_write', method: 'POST', path: '/api-keys', body: { type: 'none' } },
]

/** Returns the findings about the project. */
export async function checkSupabase(access: SupabaseProject): Promise<Finding[]> {
  const { project } = access
  const { status } = await callProject(access, 'GET', '')
  if (status === 401) {
    return [
      wrong(
        'SUPABASE_ACCESS_TOKEN is not valid: make one in the dashboard (Account, Access Tokens)',
      ),
    ]
  }
  if (status !== 200) {
    return [
      wrong(
        `SUPABASE_ACCESS_TOKEN does not see the project ${project} (${status}): correct supabase_project, or give the token project_admin_read for it`,
      ),
    ]
  }
  const found = await readProject(access)
  const rights = await Promise.all(probes.map((probe) => checkRight(access, probe)))
  return [
    found.status === 'ACTIVE_HEALTHY'
      ? well(`the project ${project} is healthy`)
      : wrong(`the project ${project} is ${found.status}: restore it in the dashboard`),
    ...rights,
  ]
}

async function checkRight(
  access: SupabaseProject,
  { right, method, path, body }: Probe,
): Promise<Finding> {
  const { status } = await callProject(access, method, path, body)
  return status === 401 || status === 403
    ? wrong(`SUPABASE_ACCESS_TOKEN has not the right ${right}: add it in the dashboard`)
    : well(`SUPABASE_ACCESS_TOKEN has the right ${right}`)
}
