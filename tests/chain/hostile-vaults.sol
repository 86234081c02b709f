// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC4626, IERC20} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

// Vaults that cheat. Each is OpenZeppelin's vault but for one thing, which begins once it is `turned`.
abstract contract Hostile is ERC4626 {
    bool internal turned;

    constructor(IERC20 token) ERC20("Hostile", "H") ERC4626(token) {}

    function turn() external {
        turned = true;
    }
}

contract PaysLess is Hostile {
    constructor(IERC20 token) Hostile(token) {}

    function _deposit(address from, address to, uint256 assets, uint256 shares) internal override {
        super._deposit(from, to, assets, turned ? (shares * 9) / 10 : shares);
    }

    function _withdraw(address by, address to, address owner, uint256 assets, uint256 shares)
        internal
        override
    {
        super._withdraw(by, to, owner, turned ? (assets * 9) / 10 : assets, shares);
    }
}

contract Pauses is Hostile {
    constructor(IERC20 token) Hostile(token) {}

    function _update(address from, address to, uint256 value) internal override {
        require(!turned, "paused");
        super._update(from, to, value);
    }
}

contract Reenters is Hostile {
    address private target;
    bytes private data;
    bool public entered;

    constructor(IERC20 token) Hostile(token) {}

    function arm(address its, bytes calldata call) external {
        (target, data) = (its, call);
    }

    function _deposit(address from, address to, uint256 assets, uint256 shares) internal override {
        if (turned) (entered, ) = target.call(data);
        super._deposit(from, to, assets, shares);
    }
}

// Without virtual shares, whoever deposits first can raise the price of a share by a gift.
contract Inflates is Hostile {
    constructor(IERC20 token) Hostile(token) {}

    function _convertToShares(uint256 assets, Math.Rounding) internal view override returns (uint256) {
        return totalSupply() == 0 ? assets : (assets * totalSupply()) / totalAssets();
    }

    function _convertToAssets(uint256 shares, Math.Rounding) internal view override returns (uint256) {
        return totalSupply() == 0 ? shares : (shares * totalAssets()) / totalSupply();
    }
}

contract LiesInAsset is Hostile {
    constructor(IERC20 token) Hostile(token) {}

    function asset() public view override returns (address) {
        return turned ? address(this) : super.asset();
    }
}

contract LiesInTotal is Hostile {
    constructor(IERC20 token) Hostile(token) {}

    function totalAssets() public view override returns (uint256) {
        return super.totalAssets() * (turned ? 10 : 1);
    }
}

contract ChargesTransfers is Hostile {
    constructor(IERC20 token) Hostile(token) {}

    function _update(address from, address to, uint256 value) internal override {
        super._update(from, to, value);
        if (turned && to != address(0)) super._update(to, address(this), value / 10);
    }
}

contract ClaimsMoreShares is Hostile {
    constructor(IERC20 token) Hostile(token) {}

    function deposit(uint256 assets, address to) public override returns (uint256) {
        return turned ? super.deposit(assets / 2, to) * 2 : super.deposit(assets, to);
    }
}

contract BurnsGas is Hostile {
    constructor(IERC20 token) Hostile(token) {}

    function _deposit(address from, address to, uint256 assets, uint256 shares) internal override {
        while (turned) {}
        super._deposit(from, to, assets, shares);
    }
}
