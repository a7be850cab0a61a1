// Shows the explorer.
//
// SPDX-License-Identifier: Apache-2.0
import '../app.css';
