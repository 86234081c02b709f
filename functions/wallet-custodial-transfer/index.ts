import { edgeFunction } from '../../shared/http/edge.ts'
import { walletCustodialTransfer } from './contract.ts'
import { run } from './handler.ts'

export default edgeFunction(walletCustodialTransfer, run)
