import type { Chain } from '../../../shared/chains/chain.ts'

/** Shows the hash of a transaction, with a link to it in the explorer of its network. */
export function Transaction({ chain, hash }: { chain: Chain | undefined; hash: string }) {
  return (
    <>
      <code class="long">{hash}</code>{' '}
      {chain && (
        <a href={`${chain.explorerUrl}/tx/${hash}`} rel="noreferrer">
          View the transaction
        </a>
      )}
    </>
  )
}
