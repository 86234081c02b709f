import { edgeFunction } from '../../shared/http/edge.ts'
import { vaultList } from './contract.ts'
import { run } from './handler.ts'

export default edgeFunction(vaultList, run)
