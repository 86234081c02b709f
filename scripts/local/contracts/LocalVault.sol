// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC4626, IERC20} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";

/// OpenZeppelin's vault over a token of the local chain. Tokens sent to it are its yield.
contract LocalVault is ERC4626 {
    constructor(IERC20 token) ERC20("Local vault", "lvUSDC") ERC4626(token) {}
}
