import { edgeFunction } from '../../shared/http/edge.ts'
import { vaultStore } from './contract.ts'
import { run } from './handler.ts'

export default edgeFunction(vaultStore, run)
