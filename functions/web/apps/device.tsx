/** The page where the owner enters the code of a program without a browser, and lets it in or not (RFC 8628). */
import * as z from 'zod'
import { time } from '../../../shared/money/row-fields.ts'
import {
  denyDevice,
  deviceHost,
  digestOfUserCode,
  grantDevice,
  readUserCode,
} from '../../../shared/oauth/device.ts'
import type { GrantScope } from '../../../shared/oauth/issuer.ts'
import { visibleLine } from '../../../shared/text/untrusted.ts'
import { readFormFields, requireOwner } from '../frame.ts'
import { levelOf, levelsWithin } from '../keys/caps.tsx'
import { Page, sendPage } from '../layout.tsx'
import { ownerSessionOf } from '../session.ts'
import { Button, Field, LinkButton } from '../ui/form.tsx'
import { Facts, Time } from '../ui/show.tsx'
import {
  markFormDraft,
  type Owner,
  type PageContext,
  type Routes,
  takeFormDraft,
  webAppPath,
} from '../visit.ts'
import { readChoice, sendAccessPage } from './access-form.tsx'
import { connectedBefore, meetApp } from './apps-data.ts'

/** Routes that ask for the code, show the request and take the decision. */
export const routes: Routes = (app) => {
  app.get('/device', async (c) => {
    const typed = c.req.query('user_code')
    if (typed === undefined) return askCode(c)
    const found = await findRequest(c, typed)
    if (!found) return askCode(c, typed)
    const draft = takeFormDraft(c, await requireOwner(c))
    return showRequest(c, found, draft?.get('of') === found.userCode ? draft : undefined)
  })
  app.post('/device', decideRequest)
}

const requestRow = z.object({
  asked: z.object({ client_id: z.string(), client_name: z.string() }),
  asked_scopes: z.array(z.custom<GrantScope>((value) => typeof value === 'string')),
  phrase: z.string(),
  client: z.string(),
  user_agent: z.string(),
  created_at: time,
})
type DeviceRequest = z.output<typeof requestRow> & { userCode: string }

async function findRequest(c: PageContext, typed: string): Promise<DeviceRequest | undefined> {
  const { db } = await requireOwner(c)
  const userCode = readUserCode(typed)
  if (userCode === undefined) return undefined
  const user_digest = await digestOfUserCode(c.get('world'), userCode)
  const row = await db.one('owner_find_device', { user_digest }, requestRow)
  return row && { ...row, userCode }
}

async function askCode(c: PageContext, typed?: string) {
  const owner = await requireOwner(c)
  const error = 'No program waits with this code. Check it, or start again there.'
  return sendPage(
    c,
    <Page
      c={c}
      title="Connect a terminal"
      owner={owner}
      isDecision
      lead="Enter the code that the program on the other device shows. You have ten tries, then one a minute."
    >
      <form method="get" action={`${webAppPath}/device`}>
        <Field
          name="user_code"
          label="Code"
          value={typed ?? ''}
          placeholder="BCDF-GHJK"
          maxlength={20}
          autocomplete="off"
          required
          {...(typed !== undefined && { error })}
        />
        <div class="actions">
          <Button>Continue</Button>
        </div>
      </form>
    </Page>,
    typed === undefined ? 200 : 400,
  )
}

async function decideRequest(c: PageContext): Promise<Response> {
  const form = await readFormFields(c)
  const typed = c.req.query('user_code') ?? ''
  const found = await findRequest(c, typed)
  if (!found) return askCode(c, typed)
  const session = await ownerSessionOf(c)
  if (form.get('decision') === 'denied') {
    return showEnd(c, (await denyDevice(session, found.userCode)) ? 'denied' : 'gone')
  }
  markFormDraft(c, form)
  const { before } = await meetProgram(await requireOwner(c), found)
  const choice = readChoice(form, found.asked_scopes, before)
  if (typeof choice === 'string') return showRequest(c, found, form, choice)
  return showEnd(c, (await grantDevice(session, found.userCode, choice)) ? 'granted' : 'gone')
}

async function meetProgram(owner: Owner, { asked }: DeviceRequest) {
  const client = { id: asked.client_id, name: asked.client_name }
  const program = { client, redirectUri: '', redirectHost: deviceHost }
  const { caps, namesakes } = await meetApp(owner, program)
  return { caps, before: connectedBefore(program, namesakes) }
}

async function showRequest(
  c: PageContext,
  request: DeviceRequest,
  typed?: URLSearchParams,
  /** Sentence about what is wrong; empty if it stands at its field. */
  problem?: string,
) {
  const me = await requireOwner(c)
  const { caps, before } = await meetProgram(me, request)
  const levels = levelsWithin(request.asked_scopes)
  return sendAccessPage(c, {
    me,
    title: 'Let this program into your account?',
    shown: <RequestingProgram request={request} />,
    problem,
    form: {
      action: `/device?user_code=${request.userCode}`,
      hidden: { of: request.userCode },
      levels,
      // Nobody has checked who the program is, so the owner chooses anything beyond the least.
      chosen: levels.find(({ name }) => name === 'read'),
      caps,
      mayReplace: before !== undefined,
      typed,
    },
  })
}

/** Shows what the program shows too, and what is known of it. */
function RequestingProgram({ request }: { request: DeviceRequest }) {
  const { asked, asked_scopes, phrase, client, user_agent, created_at } = request
  return (
    <>
      <div class="headline">
        <p class="figure long">{phrase}</p>
        <p>
          The program shows these words. If it shows others, or if somebody sent you this code, deny
          it.
        </p>
        <Facts
          facts={[
            ['It asks for', levelOf(asked_scopes).label],
            ['It calls itself', asked.client_name],
            ['Asked from', client],
            ['Asked', <Time at={created_at} />],
            ['Program', visibleLine(user_agent) || 'It does not say'],
          ]}
        />
      </div>
      <ul class="chips">
        <li class="badge warning">
          Nobody has checked who this is: the program chose its name itself
        </li>
      </ul>
    </>
  )
}

const ends = {
  granted: ['The program is connected', 'It continues by itself. You can close this page.'],
  denied: ['The program was denied', 'It has no access to your account.'],
  gone: ['This code is no longer good', 'Start again in the program: it then shows a new one.'],
} as const

async function showEnd(c: PageContext, end: keyof typeof ends) {
  const [title, words] = ends[end]
  return sendPage(
    c,
    <Page c={c} title={title} owner={await requireOwner(c)}>
      <p>{words}</p>
      <div class="actions">
        <LinkButton to="/apps">See connected apps</LinkButton>
      </div>
    </Page>,
    end === 'gone' ? 400 : 200,
  )
}
