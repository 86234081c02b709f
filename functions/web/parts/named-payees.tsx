/** What it means that a mandate names addresses: they are paid whether or not the merchant asks. */
import type { OpenedMandate } from '../data/mandates.ts'
import { Imitation } from './imitation.tsx'
import { Notice } from './show.tsx'

export function NamedPayees({ payees }: Pick<OpenedMandate, 'payees'>) {
  if (payees.length === 0) return null
  return (
    <>
      <Notice kind="warning" title="It pays the addresses it names">
        An agent can send money straight to them within these limits, whether or not the merchant
        asks for any, and nothing shows that they are the merchant’s. Compare each whole address
        with what the merchant itself tells you.
      </Notice>
      {payees.map(
        ({ address, similar }) =>
          similar !== null && <Imitation known={similar} imitating={address} />,
      )}
    </>
  )
}
