/** The page on which the owner freezes the account, sees what was stopped, and unfreezes it. */
import * as z from 'zod'
import { accountUnfrozen } from '../../../shared/mail/money-messages.ts'
import { freezeAccount as freeze, type freezeAccount } from '../../../shared/payments/freeze.ts'
import { goTo, readFormFields, requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { browserOf, sealOwnerNotice } from '../session.ts'
import { Button, Form, LinkButton } from '../ui/form.tsx'
import { Address, Money, Notice, Section, Table, Time } from '../ui/show.tsx'
import { type Owner, type PageContext, type Routes, webAppPath } from '../visit.ts'

type Frozen = Awaited<ReturnType<typeof freezeAccount>>

const freezeRow = z.object({ freeze: z.int(), since: z.string() })
type StandingFreeze = z.output<typeof freezeRow>
const unfrozenRow = z.object({ unfrozen: z.boolean() })

/** Routes that show the state of the account, freeze it and unfreeze it. */
export const routes: Routes = (app) => {
  app.get('/freeze', async (c) => {
    const me = await requireOwner(c)
    const standing = await me.db.one('owner_read_freeze', {}, freezeRow)
    if (!standing) return sendPage(c, <Freeze c={c} me={me} />)
    return sendPage(c, <Unfreeze c={c} me={me} standing={standing} />)
  })

  app.post('/freeze', async (c) => {
    const { db } = await requireOwner(c)
    const given = await readFormFields(c)
    if (given.get('wanted') === 'unfrozen') return unfreeze(c, given.get('freeze') ?? '')
    const world = c.get('world')
    const { client } = browserOf(c)
    const cursor = /^[0-9]{1,15}$/.exec(given.get('cursor') ?? '')?.[0]
    const frozen = await freeze({ world, db, client }, { cursor })
    return sendPage(c, <Stopped c={c} me={await requireProvenOwner(c)} frozen={frozen} />)
  })
}

/** Lifts the freeze that the form was shown for; at another one it shows that one instead. */
async function unfreeze(c: PageContext, shown: string): Promise<Response> {
  const me = await requireOwner(c)
  const freeze = /^[0-9]{1,9}$/.test(shown) ? Number(shown) : 0
  const mail = await sealOwnerNotice(c, accountUnfrozen)
  const lifted = await me.db.one('owner_unfreeze', { freeze, mail }, unfrozenRow)
  const standing = await me.db.one('owner_read_freeze', {}, freezeRow)
  if (lifted?.unfrozen || !standing) return goTo(c, '/freeze', 'unfrozen')
  return sendPage(c, <Unfreeze c={c} me={me} standing={standing} isAnother />, 409)
}

/** Returns the owner with the account marked as frozen, as it is after the change. */
async function requireProvenOwner(c: PageContext): Promise<Owner> {
  const me = await requireOwner(c)
  return { ...me, account: { ...me.account, isFrozen: true } }
}

function Freeze({ c, me }: { c: PageContext; me: Owner }) {
  return (
    <Page c={c} title="Freeze the account" owner={me} lead="One click stops all payments at once.">
      <Section title="What happens">
        <ul class="points">
          <li>No agent or app can pay, whatever access it has, until you unfreeze the account.</li>
          <li>No agent can use a login of the vault, read one or send mail.</li>
          <li>Payments that are prepared but not sent are cancelled.</li>
          <li>
            Payments already with a merchant or the network can still settle for a few minutes. You
            see each amount.
          </li>
          <li>Agents can still read. Your balances stay where they are.</li>
        </ul>
        <Form c={c}>
          <input type="hidden" name="wanted" value="frozen" />
          <div class="actions">
            <Button kind="danger">Freeze now</Button>
          </div>
        </Form>
      </Section>
    </Page>
  )
}

/** Tells why a form that was shown for an earlier freeze lifted nothing. */
function AnotherFreeze() {
  return (
    <Notice kind="danger" title="The account is still frozen">
      It was frozen again after your page was shown. Look for the reason in the{' '}
      <a href={`${webAppPath}/activity`}>activity</a> before you lift this freeze as well.
    </Notice>
  )
}

type UnfreezeProps = { c: PageContext; me: Owner; standing: StandingFreeze; isAnother?: true }

function Unfreeze({ c, me, standing: { freeze, since }, isAnother }: UnfreezeProps) {
  const lead = (
    <>
      Nothing has been paid since <Time at={since} isInSentence />.
    </>
  )
  return (
    <Page c={c} title="The account is frozen" owner={me} lead={lead}>
      {isAnother && <AnotherFreeze />}
      <Section title="Before you unfreeze">
        <ul class="points">
          <li>
            If somebody else was in your account, <a href={`${webAppPath}/secure`}>secure it</a>{' '}
            first.
          </li>
          <li>
            Revoke every key that you do not trust, under{' '}
            <a href={`${webAppPath}/keys`}>API keys</a>, and disconnect every such app, under{' '}
            <a href={`${webAppPath}/apps`}>Connected apps</a>.
          </li>
          <li>
            Look through <a href={`${webAppPath}/approvals`}>what waits for you</a>: what you
            approved before can be sent again once the account is not frozen.
          </li>
        </ul>
        <p>
          After that, agents can pay again at once, within your{' '}
          <a href={`${webAppPath}/limits`}>limits</a>. What was signed before the freeze is no
          longer sent; your agents have to ask again.
        </p>
        <Form c={c}>
          <input type="hidden" name="wanted" value="unfrozen" />
          <input type="hidden" name="freeze" value={freeze} />
          <div class="actions">
            <Button>Unfreeze</Button>
          </div>
        </Form>
      </Section>
      <Section title="Payments on their way">
        <Form c={c}>
          <input type="hidden" name="wanted" value="frozen" />
          <div class="actions">
            <Button kind="plain">Show what was on its way</Button>
          </div>
        </Form>
      </Section>
    </Page>
  )
}

/** Shows which payments can still settle and which were stopped, from the answer to the freeze. */
function Stopped({ c, me, frozen }: { c: PageContext; me: Owner; frozen: Frozen }) {
  const { may_settle, stopped, next_cursor: next } = frozen
  const open = [...may_settle, ...stopped]
  return (
    <Page c={c} title="The account is frozen" owner={me} lead="Nothing new is paid.">
      {open.length === 0 ? (
        <Notice kind="good">Nothing was on its way. Everything is stopped.</Notice>
      ) : (
        <Section title="On their way when you froze it">
          <Table
            caption="Payments that may still settle"
            rows={open}
            columns={[
              {
                label: 'Amount',
                cell: ({ amount, token }) => <Money amount={amount} unit={token} />,
              },
              { label: 'To', cell: ({ payee }) => <Address value={payee} /> },
              { label: 'What happens', cell: ({ message }) => message },
              { label: 'Until', cell: ({ can_settle_until: until }) => <Time at={until} /> },
            ]}
          />
          {next !== null && (
            <Form c={c}>
              <input type="hidden" name="wanted" value="frozen" />
              <input type="hidden" name="cursor" value={next} />
              <div class="actions">
                <Button kind="plain">Show more</Button>
              </div>
            </Form>
          )}
        </Section>
      )}
      <p class="actions">
        <LinkButton to="/freeze">Continue</LinkButton>
      </p>
    </Page>
  )
}
