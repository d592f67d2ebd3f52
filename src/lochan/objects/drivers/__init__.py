# SPDX-License-Identifier: Apache-2.0
"""Object store drivers, reached through the entry points of `lochan.objects` and nobody's imports.

memory is the plainest reading of the contract; local keeps each object in one file of a folder;
cloud speaks to S3, Google Cloud Storage and Azure through obstore.
"""
