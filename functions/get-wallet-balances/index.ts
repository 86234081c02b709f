import { edgeFunction } from '../../shared/http/edge.ts'
import { walletBalances } from './contract.ts'
import { run } from './handler.ts'

export default edgeFunction(walletBalances, run)
