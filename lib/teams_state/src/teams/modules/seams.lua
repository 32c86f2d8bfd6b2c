-- Extensions of the seams of locks by teams.
local ExpiringSeam = require('seams/expiring')
local Lapses = require('tasks/lapses')
local OfferedSeam = require('seams/offered')
local Suggested = require('teams/suggested')
local Waiting = require('teams/waiting')
local WaitingSeam = require('seams/waiting')

ExpiringSeam.find = Lapses.find
OfferedSeam.tasks = Suggested.tasks
WaitingSeam.of_caller = Waiting.of_caller
